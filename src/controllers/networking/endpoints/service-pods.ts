/** Finds the pods of services, and the services to publish endpoints for. */

import type { SeenPod, SeenService } from '../../../api/seen-objects.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { type IpFamily, ipFamily } from '../../../kinds/shapes/meta/addresses/ip-address.ts';
import { type Listers, type Related, related } from '../../loop/define.ts';
import { compiledLabels } from '../../shared/ownership.ts';
import { podsWith } from '../../shared/pods/pod-indexes.ts';
import { isReady, isTerminal } from '../../shared/pods/pod-life.ts';
import { selectorIndex } from '../../shared/selector-index.ts';

const HEADLESS = 'service.kubernetes.io/headless';

/** Reports whether the endpoints of the service are managed by others or left unmanaged. */
export function isManagedByOthers({ spec }: SeenService): boolean {
  return spec.type === 'ExternalName' || !spec.selector || Object.keys(spec.selector).length === 0;
}

export const isHeadless = ({ spec }: SeenService) => !spec.clusterIP || spec.clusterIP === 'None';

/** Labels that endpoints copy from their service. */
export function labelsFrom(service: SeenService): Record<string, string> {
  const { [HEADLESS]: _, ...labels } = service.metadata.labels ?? {};
  return isHeadless(service) ? { ...labels, [HEADLESS]: '' } : labels;
}

/** Returns pods that have an address. The caller chooses whether terminating pods count. */
export function podsOf({ metadata, spec }: SeenService, world: Listers, withTerminating: boolean): readonly SeenPod[] {
  return podsWith(spec.selector ?? {}, metadata.namespace ?? '', world).filter(
    (pod) =>
      !isTerminal(pod) &&
      addressesOf(pod).length > 0 &&
      (withTerminating || pod.metadata.deletionTimestamp === undefined),
  );
}

const servicesOf = selectorIndex(Service, (service) =>
  isManagedByOthers(service) ? undefined : compiledLabels(service.spec.selector),
);

/** Related kind for a controller's `also`: a changed pod wakes the services that select it, or did before. */
export const podsBehindServices: Related = related(
  Pod,
  ({ metadata }, world) => servicesOf(metadata.labels, metadata.namespace ?? '', world).map(keyOf),
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

export function familiesOf({ spec }: SeenService): readonly IpFamily[] {
  if (spec.ipFamilies?.length) return spec.ipFamilies as readonly IpFamily[];
  return [(spec.clusterIP && ipFamily(spec.clusterIP)) || 'IPv4'];
}
