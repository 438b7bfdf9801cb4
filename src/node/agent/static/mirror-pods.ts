/** Shows static pods in the API: one mirror for each, created again when a client deletes or changes it. */

import { isApiError, isLostRace } from '../../../api/errors.ts';
import type { Draft } from '../../../api/object-types.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { ReconcileLoop } from '../../../base/reconcile/reconcile-loop.ts';
import type { ClientTools } from '../../../client/client.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { CONFIG_HASH, CONFIG_MIRROR } from '../../admission/critical.ts';
import type { SeenPod } from '../../pod/container-run.ts';

export interface MirrorPodsOptions extends ClientTools {
  readonly signal: AbortSignal;
  readonly nodeName: string;
  /** The UID of the Node object, which owns the mirrors. Undefined until it is registered. */
  readonly nodeUid: () => string | undefined;
}

const RETRY_MS = 1_000;
const WORKERS = 4;

interface Slot {
  /** The static pod; undefined: there is none, and a mirror is left over. */
  pod: SeenPod | undefined;
  /** As last seen in the API. */
  mirror: SeenPod | undefined;
}

export class MirrorPods {
  /** Slots by namespace and name. */
  readonly #slots = new Map<string, Slot>();
  readonly #loop: ReconcileLoop;
  #running: Promise<void> | undefined;

  constructor(private readonly options: MirrorPodsOptions) {
    const { clock, random, log } = options;
    this.#loop = new ReconcileLoop({
      clock,
      random,
      log,
      workers: WORKERS,
      backoff: { base: RETRY_MS, max: RETRY_MS, jitter: 0 },
      failure: 'cannot write a mirror pod',
      isExpected: isLostRace,
      reconcile: (key) => this.#reconcile(key),
    });
  }

  /** Returns the mirror that shows this static pod; undefined while there is none. */
  of(pod: SeenPod): SeenPod | undefined {
    const mirror = this.#slots.get(keyOf(pod))?.mirror;
    return mirror && isMirrorOf(mirror, pod) ? mirror : undefined;
  }

  /** Begins to write: the node is registered, and all mirrors that there are have been seen. */
  connect(): void {
    this.#running ??= this.#loop.run(this.options.signal);
  }

  /** A static pod is on the node. */
  show(pod: SeenPod): void {
    this.#change(pod, (slot) => {
      slot.pod = pod;
    });
  }

  /** Nothing of the static pod is left on the node. */
  hide(pod: SeenPod): void {
    this.#change(pod, (slot) => {
      if (slot.pod?.metadata.uid === pod.metadata.uid) slot.pod = undefined;
    });
  }

  /** The API has this mirror. */
  put(mirror: SeenPod): void {
    this.#change(mirror, (slot) => {
      slot.mirror = mirror;
    });
  }

  /** The API does not have this mirror any more. */
  remove(mirror: SeenPod): void {
    this.#change(mirror, (slot) => {
      if (slot.mirror?.metadata.uid === mirror.metadata.uid) slot.mirror = undefined;
    });
  }

  /** Resolves after the signal, when nothing is in progress. */
  async stopped(): Promise<void> {
    await this.#running;
  }

  #change(pod: SeenPod, change: (slot: Slot) => void): void {
    const key = keyOf(pod);
    const slot = getOrInsert(this.#slots, key, () => ({ pod: undefined, mirror: undefined }));
    change(slot);
    this.#loop.add(key);
  }

  /** The informer tells what came of a write, and leads to the next one. */
  async #reconcile(key: string): Promise<void> {
    const { pod, mirror } = this.#slots.get(key)!;
    if (pod ? mirror && isMirrorOf(mirror, pod) : !mirror) return;
    await (mirror ? this.#delete(mirror) : this.#create(pod!));
  }

  async #create(pod: SeenPod): Promise<void> {
    const { client, signal, nodeName, nodeUid } = this.options;
    const { namespace = '', name, labels, annotations = {} } = pod.metadata;
    const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid() ?? '', controller: true };
    const mirror = {
      metadata: {
        name,
        namespace,
        labels,
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
    const { client, signal } = this.options;
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
