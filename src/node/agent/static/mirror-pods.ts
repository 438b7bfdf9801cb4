/** Shows static pods in the API: one mirror for each, created again when a client deletes or changes it. */

import { isApiError } from '../../../api/errors.ts';
import type { Draft } from '../../../api/object-types.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { Client } from '../../../client/client.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { CONFIG_HASH, CONFIG_MIRROR } from '../../admission/critical.ts';
import type { SeenPod } from '../../pod/container-run.ts';

export interface MirrorPodsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly nodeName: string;
  /** The UID of the Node object, which owns the mirrors. Undefined until it is registered. */
  readonly nodeUid: () => string | undefined;
}

const RETRY_MS = 1_000;

interface Slot {
  /** The static pod; undefined: there is none, and a mirror is left over. */
  pod: SeenPod | undefined;
  /** As last seen in the API. */
  mirror: SeenPod | undefined;
  writing: Promise<void> | undefined;
  retry: Timer | undefined;
}

export class MirrorPods {
  readonly #options: MirrorPodsOptions;
  /** Slots by namespace and name. */
  readonly #slots = new Map<string, Slot>();
  #isConnected = false;

  constructor(options: MirrorPodsOptions) {
    this.#options = options;
  }

  /** Returns the mirror that shows this static pod; undefined while there is none. */
  of(pod: SeenPod): SeenPod | undefined {
    const mirror = this.#slots.get(keyOf(pod))?.mirror;
    return mirror && isMirrorOf(mirror, pod) ? mirror : undefined;
  }

  /** Begins to write: the node is registered, and all mirrors that there are have been seen. */
  connect(): void {
    this.#isConnected = true;
    for (const slot of this.#slots.values()) this.#sync(slot);
  }

  /** A static pod is on the node. */
  show(pod: SeenPod): void {
    const slot = this.#slotOf(pod);
    slot.pod = pod;
    this.#sync(slot);
  }

  /** Nothing of the static pod is left on the node. */
  hide(pod: SeenPod): void {
    const slot = this.#slotOf(pod);
    if (slot.pod?.metadata.uid === pod.metadata.uid) slot.pod = undefined;
    this.#sync(slot);
  }

  /** The API has this mirror. */
  put(mirror: SeenPod): void {
    const slot = this.#slotOf(mirror);
    slot.mirror = mirror;
    this.#sync(slot);
  }

  /** The API does not have this mirror any more. */
  remove(mirror: SeenPod): void {
    const slot = this.#slotOf(mirror);
    if (slot.mirror?.metadata.uid === mirror.metadata.uid) slot.mirror = undefined;
    this.#sync(slot);
  }

  async stopped(): Promise<void> {
    for (const { retry } of this.#slots.values()) retry?.cancel();
    await Promise.all([...this.#slots.values()].map(({ writing }) => writing));
  }

  #slotOf(pod: SeenPod): Slot {
    const key = keyOf(pod);
    const known = this.#slots.get(key);
    if (known) return known;
    const slot: Slot = { pod: undefined, mirror: undefined, writing: undefined, retry: undefined };
    this.#slots.set(key, slot);
    return slot;
  }

  /** One write at a time; the informer tells what came of it, and leads to the next one. */
  #sync(slot: Slot): void {
    const { clock, log, signal } = this.#options;
    const { pod, mirror } = slot;
    if (!this.#isConnected || slot.writing || signal.aborted) return;
    if (pod ? mirror && isMirrorOf(mirror, pod) : !mirror) return;
    slot.retry?.cancel();
    slot.writing = (mirror ? this.#delete(mirror) : this.#create(pod!))
      .catch((error: unknown) => {
        if (signal.aborted) return;
        const { namespace, name } = (mirror ?? pod)!.metadata;
        log.warn('cannot write a mirror pod', { pod: `${namespace}/${name}`, error: String(error) });
        slot.retry = clock.timer(RETRY_MS, () => this.#sync(slot));
      })
      .finally(() => {
        slot.writing = undefined;
        if (slot.pod !== pod || slot.mirror !== mirror) this.#sync(slot);
      });
  }

  async #create(pod: SeenPod): Promise<void> {
    const { client, signal, nodeName, nodeUid } = this.#options;
    const { namespace = '', name, labels, annotations = {} } = pod.metadata;
    const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid() ?? '', controller: true };
    const mirror = {
      metadata: {
        name,
        namespace,
        ...(labels ? { labels } : {}),
        annotations: { ...annotations, [CONFIG_MIRROR]: annotations[CONFIG_HASH] ?? '' },
        ownerReferences: [owner],
      },
      spec: pod.spec,
    };
    await client
      .of(Pod)
      .in(namespace)
      .create(mirror as Draft<Pod>, { signal });
  }

  /** Mirrors have no grace period: nothing ends with them. */
  async #delete({ metadata: { namespace = '', name = '', uid = '' } }: SeenPod): Promise<void> {
    const { client, signal } = this.#options;
    try {
      const options = { gracePeriodSeconds: 0, preconditions: { uid }, signal };
      await client.of(Pod).in(namespace).delete(name, options);
    } catch (error) {
      if (!isApiError(error, 'NotFound', 'Conflict')) throw error;
    }
  }
}

/** A mirror whose spec was changed has another generation than on its creation. */
function isMirrorOf({ metadata }: SeenPod, pod: SeenPod): boolean {
  const isSame = metadata.annotations?.[CONFIG_MIRROR] === pod.metadata.annotations?.[CONFIG_HASH];
  return isSame && metadata.deletionTimestamp === undefined && (metadata.generation ?? 1) <= 1;
}

export const keyOf = ({ metadata: { namespace, name } }: SeenPod) => `${namespace}/${name}`;
