/** Data that Endpoints and EndpointSlices publish about one pod. */

import type { SeenPod, SeenService } from '../../../api/seen-objects.ts';
import { memoized } from '../../../base/collections/memoized.ts';

type ServicePort = NonNullable<SeenService['spec']['ports']>[number];

export function identityOf(pod: SeenPod, service: SeenService) {
  const { namespace, name, uid } = pod.metadata;
  const hostname = hostnameOf(pod, service);
  const { nodeName } = pod.spec;
  return {
    hostname: hostname || undefined,
    targetRef: { kind: 'Pod', namespace, name, uid },
    nodeName: nodeName || undefined,
  };
}

/** The ports of a service on its pods. Pods on which the service has the same ports share one object. */
export interface PodPorts {
  readonly ports: readonly EndpointPort[];
}

interface EndpointPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol: ServicePort['protocol'];
  readonly appProtocol?: string;
}

/** Maximum number of listed ports over all pods of a service. Pods beyond the limit are not published. */
export const MAX_LISTED_PORTS = 50_000;

/**
 * Returns a function that finds the ports of a pod, without those that it does not have. Only named ports differ between
 * pods: a service has its ports listed once for all pods that number them alike, not once for each pod. Undefined for a
 * pod that is not published because there are too many different ones.
 */
export const portMapping = ({ spec: { ports = NO_PORTS } }: SeenService): PortMapping => mappingOf(ports);

type PortMapping = (pod: SeenPod) => PodPorts | undefined;

const NO_PORTS: readonly ServicePort[] = [];

/** Cached: every change of a pod asks again. */
const mappingOf = memoized((ports: readonly ServicePort[]): PortMapping => {
  const names = new Set(ports.flatMap((port) => (typeof port.targetPort === 'string' ? [targetKey(port)] : [])));
  const known = new Map<string, PodPorts>();
  const maxKnown = Math.max(1, Math.floor(MAX_LISTED_PORTS / Math.max(1, ports.length)));
  const find = (numbers: Numbers) => {
    const key = [...numbers]
      .map(([name, number]) => `${name}=${number}`)
      .sort()
      .join(' ');
    const found = known.get(key);
    if (found || known.size >= maxKnown) return found;
    const listed = { ports: ports.flatMap((port) => portOf(port, numbers)) };
    known.set(key, listed);
    return listed;
  };
  if (names.size === 0) {
    const listed = find(NO_NUMBERS);
    return () => listed;
  }
  // A change of one pod requires the ports of all: a thousand pods with a thousand named ports take a second and a
  // half.
  const byPod = new WeakMap<SeenPod, PodPorts | undefined>();
  return (pod) => {
    if (!byPod.has(pod)) byPod.set(pod, find(numbersOf(pod, names)));
    return byPod.get(pod);
  };
});

type Numbers = ReadonlyMap<string, number>;

const NO_NUMBERS: Numbers = new Map();

const targetKey = ({ targetPort, protocol }: ServicePort) => `${targetPort}/${protocol}`;

/** The numbers of these ports of the pod. The first container with a port of the name counts. */
function numbersOf({ spec }: SeenPod, names: ReadonlySet<string>): Numbers {
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  const numbers = new Map<string, number>();
  for (const { ports = [] } of [...spec.containers, ...sidecars]) {
    for (const { name, protocol, containerPort } of ports) {
      const key = `${name}/${protocol}`;
      if (name && names.has(key) && !numbers.has(key)) numbers.set(key, containerPort);
    }
  }
  return numbers;
}

function portOf(port: ServicePort, numbers: Numbers): EndpointPort[] {
  const { name, protocol, appProtocol, targetPort } = port;
  const number = typeof targetPort === 'string' ? numbers.get(targetKey(port)) : (targetPort ?? port.port);
  if (number === undefined) return [];
  return [{ name: name || undefined, port: number, protocol, appProtocol: appProtocol || undefined }];
}

function hostnameOf({ spec }: SeenPod, { metadata }: SeenService): string | undefined {
  return spec.subdomain === metadata.name ? spec.hostname || undefined : undefined;
}
