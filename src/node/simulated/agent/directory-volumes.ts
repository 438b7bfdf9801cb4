/**
 * Releases volumes that are directories of simulated nodes (see kinds/volumes/node-directory.ts). There is no disk and
 * nothing to remove, so that a node that is up releases them at once.
 */
import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Logger } from '../../../base/log.ts';
import type { Informer } from '../../../client/informer/informer.ts';
import type { Lister } from '../../../client/informer/object-cache.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { isToRemove, NODE, nodeDirectory, REMOVAL } from '../../../kinds/volumes/node-directory.ts';
import type { SimulatedNode } from './node.ts';

export interface DirectoryVolumesOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Returns undefined for a node that is not simulated. */
  readonly nodeOf: (name: string) => SimulatedNode | undefined;
}

type Volume = DeepReadonly<PersistentVolume>;

const NONE: readonly string[] = [];
const byNode = ({ metadata }: Volume): readonly string[] => {
  const node = metadata.labels?.[NODE];
  return node ? [node] : NONE;
};

export class DirectoryVolumes {
  readonly #pending = new Set<Promise<void>>();
  #lister: Lister<PersistentVolume> | undefined;

  constructor(private readonly options: DirectoryVolumesOptions) {}

  follow(volumes: Informer<PersistentVolume>): void {
    this.#lister = volumes.lister;
    const leave = volumes.onChange(({ type, object }) => {
      if (type !== 'delete') this.#reconcile(object);
    });
    this.options.signal.addEventListener('abort', leave, { once: true });
  }

  /** Handles what was requested while the node was down. */
  resume(node: string): void {
    for (const volume of this.#lister?.by(byNode, node) ?? []) this.#reconcile(volume);
  }

  /** Resolves when no write is in progress. */
  async stopped(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #reconcile(volume: Volume): void {
    if (!isToRemove(volume)) return;
    const directory = nodeDirectory(volume);
    const node = directory && this.options.nodeOf(directory.node);
    if (!node?.isUp) return;
    const work = this.#release(volume, node).finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  async #release({ metadata: { name = '', uid } }: Volume, { client }: SimulatedNode): Promise<void> {
    const { log, signal } = this.options;
    const changes = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [REMOVAL] } };
    try {
      await client.of(PersistentVolume).patch(name, { type: 'strategic', changes }, { signal });
    } catch (error) {
      if (signal.aborted || isApiError(error, 'NotFound', 'Conflict')) return;
      log.warn('cannot release a volume', { volume: name, error: String(error) });
    }
  }
}
