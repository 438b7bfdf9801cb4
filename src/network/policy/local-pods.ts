/**
 * The pods of this node with the addresses that its runtime gave them. The API shows those later, and others may write its status:
 * policies hold for the addresses that pods have.
 */
import type { DeepReadonly } from '../../api/object-types.ts';
import type { Pod as PodObject } from '../../kinds/groups/core/pod/pod.ts';
import { addressesOf } from './pod-addresses.ts';

type Pod = DeepReadonly<PodObject>;

interface LocalPod {
  readonly addresses: readonly string[];
  /** Pod; undefined when the API has shown it before. */
  readonly pod: Pod | undefined;
}

export class LocalPods {
  readonly #byUid = new Map<string, LocalPod>();

  /** An address belongs to the last pod that got it. */
  add(uid: string, addresses: readonly string[], pod?: Pod): void {
    for (const [other, known] of this.#byUid) {
      if (known.addresses.some((address) => addresses.includes(address))) this.#byUid.delete(other);
    }
    this.#byUid.set(uid, { addresses, pod });
  }

  addressesOf(uid: string): readonly string[] | undefined {
    return this.#byUid.get(uid)?.addresses;
  }

  removed(pod: Pod): void {
    this.#byUid.delete(uidOf(pod));
  }

  /** The pods of the API with those that start. Others that claim an address of a pod of this node are left out. */
  among(pods: readonly Pod[]): readonly Pod[] {
    if (this.#byUid.size === 0) return pods;
    const taken = new Set([...this.#byUid.values()].flatMap(({ addresses }) => addresses));
    const starting = new Map(this.#byUid);
    const shown = pods.flatMap((pod) => {
      const uid = uidOf(pod);
      const own = this.#byUid.get(uid);
      starting.delete(uid);
      if (own) return withAddresses(pod, own.addresses);
      return addressesOf(pod).some((address) => taken.has(address)) ? [] : pod;
    });
    return [
      ...shown,
      ...[...starting.values()].flatMap(({ pod, addresses }) => (pod ? withAddresses(pod, addresses) : [])),
    ];
  }
}

/**
 * Adds addresses to a pod. A pod that has ended in the API may go on for a while: it keeps its address until another
 * pod gets it.
 */
function withAddresses(pod: Pod, addresses: readonly string[]): Pod {
  const podIPs = addresses.map((ip) => ({ ip }));
  return { ...pod, status: { ...pod.status, phase: 'Running', podIP: addresses[0] ?? '', podIPs } };
}

const uidOf = ({ metadata: { uid = '' } }: Pod) => uid;
