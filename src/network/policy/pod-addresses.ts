/** The addresses of a pod, as its status shows them. */
import type { DeepReadonly } from '../../api/object-types.ts';
import { memoized } from '../../base/collections/memoized.ts';
import type { Pod as PodObject } from '../../kinds/groups/core/pod/pod.ts';
import { formatIp } from '../../kinds/shapes/meta/addresses/canonical-ip.ts';
import { parseIp } from '../../kinds/shapes/meta/addresses/ip-address.ts';

type Pod = DeepReadonly<PodObject>;

/**
 * Returns addresses in canonical form; text that is not an address is left out. Pods on the network of the node have
 * its addresses.
 */
export const addressesOf = memoized((pod: Pod): readonly string[] =>
  textsOf(pod).flatMap((text) => {
    const bytes = parseIp(text);
    return bytes ? [formatIp(bytes)] : [];
  }),
);

/** Reports whether the status shows an address of the node as that of the pod. */
export function hasAddressOfNode({ status }: Pod): boolean {
  const { podIP, hostIP, hostIPs = [] } = status;
  return Boolean(podIP) && (podIP === hostIP || hostIPs.some(({ ip }) => ip === podIP));
}

/** Returns text in the place of an address that is not an address; undefined if there is none. */
export function wrongAddressOf(pod: Pod): string | undefined {
  return textsOf(pod).find((text) => parseIp(text) === undefined);
}

function textsOf({ status }: Pod): readonly string[] {
  const all = status.podIPs?.flatMap(({ ip }) => ip || []) ?? [];
  return all.length > 0 ? all : status.podIP ? [status.podIP] : [];
}
