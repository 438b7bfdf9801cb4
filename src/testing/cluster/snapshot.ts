/**
 * The state of a test cluster at one moment: what is stored, the time, and where randomness is. Components keep no state that
 * they could not find again.
 */
import { readImage, writeImage } from '../../store/memory/image-file.ts';
import type { StoreImage } from '../../store/memory/memory-store.ts';
import type { Snapshot } from '../contract.ts';

export interface ClusterState {
  readonly seed: number;
  /** Of the generator. */
  readonly random: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly nodes: readonly string[];
  readonly simulation: object;
  readonly image: StoreImage;
}

export class ClusterSnapshot implements Snapshot {
  readonly #state: ClusterState;

  constructor(state: ClusterState) {
    this.#state = state;
  }

  static async load(file: string): Promise<ClusterSnapshot> {
    const { image, about } = readImage(file);
    return new ClusterSnapshot({ ...(about as unknown as Omit<ClusterState, 'image'>), image });
  }

  get state(): ClusterState {
    return this.#state;
  }

  get size(): number {
    return this.#state.image.rows.length;
  }

  get time(): Date {
    return new Date(this.#state.now);
  }

  async save(file: string): Promise<void> {
    const { image, ...about } = this.#state;
    await writeImage(file, { image, about });
  }
}
