/** The pods behind a service, as all that tell of them see them. */
import { deepEqual } from '../../base/tree.ts';
import { keyOf } from '../../client/object-cache.ts';
import type { DeepReadonly } from '../../client/object-types.ts';
import { Pod } from '../../kinds/core/pod.ts';
import { Service } from '../../kinds/core/service.ts';
import { type IpFamily, ipFamily } from '../../kinds/shapes/ip-address.ts';
import { type Listers, type Related, related } from '../define.ts';
import { compiledLabels } from '../ownership.ts';
import { isTerminal, readySince } from '../pods/pod-life.ts';
import { podsWith } from '../pods/pods-by-label.ts';

export type SeenPod = DeepReadonly<Pod>;
export type SeenService = DeepReadonly<Service>;
type ServicePort = NonNullable<SeenService['spec']['ports']>[number];

export const HEADLESS = 'service.kubernetes.io/headless';
export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Whether somebody else keeps its endpoints, or nobody. */
export function isKeptByOthers({ spec }: SeenService): boolean {
  return spec.type === 'ExternalName' || !spec.selector || Object.keys(spec.selector).length === 0;
}

export const isHeadless = ({ spec }: SeenService) => !spec.clusterIP || spec.clusterIP === 'None';

/** Those that have an address. Whether one that is on its way out is among them is for the caller to say. */
export function podsOf({ metadata, spec }: SeenService, world: Listers, withTerminating: boolean): readonly SeenPod[] {
  return podsWith(spec.selector ?? {}, metadata.namespace ?? '', world).filter(
    (pod) =>
      !isTerminal(pod) &&
      addressesOf(pod).length > 0 &&
      (withTerminating || pod.metadata.deletionTimestamp === undefined),
  );
}

export const isReady = (pod: SeenPod) => readySince(pod) !== undefined;

/** For a controller's `also`: a pod that comes, goes or changes wakes the services that it is or was behind. */
export const podsBehindServices: Related = related(
  Pod,
  ({ metadata }, { of }) =>
    of(Service)
      .list(metadata.namespace)
      .filter((service) => !isKeptByOthers(service) && compiledLabels(service.spec.selector).matches(metadata.labels))
      .map(keyOf),
  (pod, old) =>
    isReady(pod) === isReady(old) &&
    isTerminal(pod) === isTerminal(old) &&
    pod.metadata.deletionTimestamp === old.metadata.deletionTimestamp &&
    pod.spec.nodeName === old.spec.nodeName &&
    deepEqual(pod.metadata.labels, old.metadata.labels) &&
    deepEqual(addressesOf(pod), addressesOf(old)),
);

export function addressesOf({ status }: SeenPod): readonly string[] {
  const all = status.podIPs?.map(({ ip }) => ip ?? '').filter(Boolean) ?? [];
  return all.length > 0 || !status.podIP ? all : [status.podIP];
}

/** The families of the addresses that a service has, or would have. */
export function familiesOf({ spec }: SeenService): readonly IpFamily[] {
  if (spec.ipFamilies?.length) return spec.ipFamilies as readonly IpFamily[];
  return [(spec.clusterIP && ipFamily(spec.clusterIP)) || 'IPv4'];
}

/** The number of the pod's port that stands behind one of the service; undefined when the pod has none of the name. */
export function portOf({ spec }: SeenPod, { targetPort, port, protocol }: ServicePort): number | undefined {
  if (typeof targetPort !== 'string') return targetPort ?? port;
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  for (const container of [...spec.containers, ...sidecars]) {
    const found = container.ports?.find((each) => each.name === targetPort && each.protocol === protocol);
    if (found) return found.containerPort;
  }
  return undefined;
}

/** The name that DNS has for the pod alone. */
export function hostnameOf({ spec }: SeenPod, { metadata }: SeenService): string | undefined {
  return spec.subdomain === metadata.name ? spec.hostname || undefined : undefined;
}

export function referenceTo({ metadata }: SeenPod) {
  return { kind: 'Pod', namespace: metadata.namespace, name: metadata.name, uid: metadata.uid };
}

/** What the endpoints said of each pod by uid, and what they say now: the first of the differences that time explains. */
export function triggerTime(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
  pods: readonly SeenPod[],
): string | undefined {
  let first: string | undefined;
  for (const pod of pods) {
    const uid = pod.metadata.uid ?? '';
    if (deepEqual(before.get(uid), after.get(uid))) continue;
    const time = pod.status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
    if (time && (first === undefined || time < first)) first = time;
  }
  return first;
}

/** The annotations with the time that the change goes back to; a change without one has none. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [TRIGGER_TIME]: _, ...others } = annotations ?? {};
  return time === undefined ? others : { ...others, [TRIGGER_TIME]: time };
}
