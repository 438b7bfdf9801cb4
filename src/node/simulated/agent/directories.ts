/**
 * What simulated nodes do about volumes that are directories of theirs (see kinds/volumes/node-directory.ts): they have no
 * disk, so nothing is made and nothing is removed, and they agree that it was. A node that is down agrees to nothing.
 */
import { isApiError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { Informer } from '../../../client/informer/informer.ts';
import type { Lister } from '../../../client/informer/object-cache.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { isToRemove, NODE, nodeDirectory, REMOVAL } from '../../../kinds/volumes/node-directory.ts';
import type { SimulatedNode } from './node.ts';

export interface DirectoriesOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** A simulated node by its name; undefined for any other. */
  readonly nodeOf: (name: string) => SimulatedNode | undefined;
}

type Volume = DeepReadonly<PersistentVolume>;

const NONE: readonly string[] = [];
const byNode = ({ metadata }: Volume): readonly string[] => {
  const node = metadata.labels?.[NODE];
  return node ? [node] : NONE;
};

export class Directories {
  readonly #options: DirectoriesOptions;
  readonly #under = new Set<Promise<void>>();
  #lister: Lister<PersistentVolume> | undefined;

  constructor(options: DirectoriesOptions) {
    this.#options = options;
  }

  follow(volumes: Informer<PersistentVolume>): void {
    this.#lister = volumes.lister;
    const leave = volumes.onChange(({ type, object }) => {
      if (type !== 'delete') this.#look(object);
    });
    this.#options.signal.addEventListener('abort', leave, { once: true });
  }

  /** A node has come back: it does what was asked of it meanwhile. */
  resume(node: string): void {
    for (const volume of this.#lister?.by(byNode, node) ?? []) this.#look(volume);
  }

  /** Resolves when nothing is under way any more. */
  async stopped(): Promise<void> {
    await Promise.all(this.#under);
  }

  #look(volume: Volume): void {
    if (!isToRemove(volume)) return;
    const directory = nodeDirectory(volume);
    const node = directory && this.#options.nodeOf(directory.node);
    if (!node?.isUp) return;
    const work = this.#letGo(volume, node).finally(() => this.#under.delete(work));
    this.#under.add(work);
  }

  async #letGo({ metadata: { name = '', uid } }: Volume, { client }: SimulatedNode): Promise<void> {
    const { log, signal } = this.#options;
    const changes = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [REMOVAL] } };
    try {
      await client.of(PersistentVolume).patch(name, { type: 'strategic', changes }, { signal });
    } catch (error) {
      if (signal.aborted || isApiError(error, 'NotFound', 'Conflict')) return;
      log.warn('a volume could not be let go', { volume: name, error: String(error) });
    }
  }
}
