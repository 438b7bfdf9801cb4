/** What Endpoints and EndpointSlices publish about one pod. */
import type { SeenPod, SeenService } from './service-pods.ts';

type ServicePort = NonNullable<SeenService['spec']['ports']>[number];

export function identityOf(pod: SeenPod, service: SeenService) {
  const { namespace, name, uid } = pod.metadata;
  const hostname = hostnameOf(pod, service);
  const { nodeName } = pod.spec;
  return {
    ...(hostname ? { hostname } : {}),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName ? { nodeName } : {}),
  };
}

/** The pod's ports for those of the service, without those that it does not have. */
export function portsOf(pod: SeenPod, { spec }: SeenService) {
  return (spec.ports ?? []).flatMap((port) => {
    const number = portOf(pod, port);
    if (number === undefined) return [];
    const { name, protocol, appProtocol } = port;
    return [{ ...(name ? { name } : {}), port: number, protocol, ...(appProtocol ? { appProtocol } : {}) }];
  });
}

/** Returns undefined when the pod has no port of the name. */
function portOf({ spec }: SeenPod, { targetPort, port, protocol }: ServicePort): number | undefined {
  if (typeof targetPort !== 'string') return targetPort ?? port;
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  for (const container of [...spec.containers, ...sidecars]) {
    const found = container.ports?.find((each) => each.name === targetPort && each.protocol === protocol);
    if (found) return found.containerPort;
  }
  return undefined;
}

/** The DNS host name of the pod. */
function hostnameOf({ spec }: SeenPod, { metadata }: SeenService): string | undefined {
  return spec.subdomain === metadata.name ? spec.hostname || undefined : undefined;
}
