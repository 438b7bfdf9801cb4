/** Which pods are behind a service, and which services are told of. */
import { deepEqual } from '../../../base/tree.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { type IpFamily, ipFamily } from '../../../kinds/shapes/meta/ip-address.ts';
import { type Listers, type Related, related } from '../../loop/define.ts';
import { compiledLabels } from '../../shared/ownership.ts';
import { isReady, isTerminal } from '../../shared/pods/pod-life.ts';
import { podsWith } from '../../shared/pods/pods-by-label.ts';

export type SeenPod = DeepReadonly<Pod>;
export type SeenService = DeepReadonly<Service>;

const HEADLESS = 'service.kubernetes.io/headless';

/** Whether somebody else keeps its endpoints, or nobody. */
export function isKeptByOthers({ spec }: SeenService): boolean {
  return spec.type === 'ExternalName' || !spec.selector || Object.keys(spec.selector).length === 0;
}

export const isHeadless = ({ spec }: SeenService) => !spec.clusterIP || spec.clusterIP === 'None';

/** The labels that what tells of a service takes from it. */
export function labelsFrom(service: SeenService): Record<string, string> {
  const { [HEADLESS]: _, ...labels } = service.metadata.labels ?? {};
  return isHeadless(service) ? { ...labels, [HEADLESS]: '' } : labels;
}

/** Those that have an address. Whether one that is on its way out is among them is for the caller to say. */
export function podsOf({ metadata, spec }: SeenService, world: Listers, withTerminating: boolean): readonly SeenPod[] {
  return podsWith(spec.selector ?? {}, metadata.namespace ?? '', world).filter(
    (pod) =>
      !isTerminal(pod) &&
      addressesOf(pod).length > 0 &&
      (withTerminating || pod.metadata.deletionTimestamp === undefined),
  );
}

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
