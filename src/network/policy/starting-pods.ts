/** Pods whose containers are about to start. The API does not show their addresses yet, and policies must hold all the same. */
import type { DeepReadonly } from '../../client/object-types.ts';
import type { Pod as PodObject } from '../../kinds/groups/core/pod/pod.ts';
import { addressesOf } from './policy-set-of.ts';

type Pod = DeepReadonly<PodObject>;

export class StartingPods {
  readonly #byUid = new Map<string, Pod>();

  /** An address belongs to the last pod that starts with it. */
  add(pod: Pod, addresses: readonly string[]): void {
    for (const [uid, other] of this.#byUid) {
      if (addressesOf(other).some((address) => addresses.includes(address))) this.#byUid.delete(uid);
    }
    const podIPs = addresses.map((ip) => ({ ip }));
    this.#byUid.set(uidOf(pod), { ...pod, status: { ...pod.status, podIP: addresses[0] ?? '', podIPs } });
  }

  /** The API has shown a pod: with its addresses, it is like all others. */
  shown(pod: Pod): void {
    const starting = this.#byUid.get(uidOf(pod));
    if (starting && textOf(starting) === textOf(pod)) this.#byUid.delete(uidOf(pod));
  }

  removed(pod: Pod): void {
    this.#byUid.delete(uidOf(pod));
  }

  /** The pods of the API, with those that start. Others that had one of their addresses are left out. */
  among(pods: readonly Pod[]): readonly Pod[] {
    if (this.#byUid.size === 0) return pods;
    const starting = new Map(this.#byUid);
    const taken = new Set([...starting.values()].flatMap(addressesOf));
    const others = pods.filter((pod) => {
      const own = starting.get(uidOf(pod));
      if (own === undefined) return !addressesOf(pod).some((address) => taken.has(address));
      // Its labels may have changed since.
      starting.set(uidOf(pod), { ...own, metadata: pod.metadata });
      return false;
    });
    return [...others, ...starting.values()];
  }
}

const uidOf = ({ metadata: { uid = '' } }: Pod) => uid;
const textOf = (pod: Pod) => addressesOf(pod).join(' ');
