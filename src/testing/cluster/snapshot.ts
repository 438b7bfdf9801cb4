/**
 * The state of a test cluster at one moment: what is stored, the time, and where randomness is. Components keep no state that
 * they could not find again.
 */
import { MAX_TIME, MIN_TIME } from '../../base/time/timestamp.ts';
import { readRules } from '../../node/simulated/rules/read-rules.ts';
import { dnsSubdomain } from '../../schema/names.ts';
import { damagedHeader, readImage, writeImage } from '../../store/memory/image-file.ts';
import type { StoreImage } from '../../store/memory/memory-store.ts';
import type { Snapshot } from '../contract.ts';

/** Seeds and the state of the generator have 32 bits. */
export const MAX_SEED = 2 ** 32;
const MIN_RANDOM = -(2 ** 31);

type Description = Readonly<Record<string, unknown>>;

export interface ClusterState {
  readonly seed: number;
  /** State of the random generator. */
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
    return new ClusterSnapshot({ ...stateIn(about, file), image });
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

/** Validates the file's description of the cluster: it is text that somebody may have edited. */
function stateIn(about: Description, file: string): Omit<ClusterState, 'image'> {
  const { seed, random, now, nodes, simulation } = about;
  const wrong = (field: string, problem: string) => damagedHeader(file, `about.${field} ${problem}`);
  if (!isInteger(seed, 0)) throw wrong('seed', 'must be a whole number of 32 bits');
  if (!isInteger(random, MIN_RANDOM)) throw wrong('random', 'must be a whole number of 32 bits');
  if (!isTime(now)) throw wrong('now', 'must be a time in milliseconds since 1970, from the year 1 to 9999');
  if (!areNodes(nodes)) throw wrong('nodes', 'must be a list of names of nodes, each of them once');
  if (typeof simulation !== 'object' || simulation === null) throw wrong('simulation', 'must be a map');
  try {
    readRules(simulation);
  } catch (cause) {
    throw wrong('simulation', `has an error: ${(cause as Error).message}`);
  }
  return { seed, random, now, nodes, simulation };
}

const isInteger = (value: unknown, min: number): value is number =>
  Number.isInteger(value) && (value as number) >= min && (value as number) < MAX_SEED;

export const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value >= MIN_TIME && value <= MAX_TIME;

function areNodes(value: unknown): value is readonly string[] {
  if (!Array.isArray(value)) return false;
  const areNames = value.every((name) => typeof name === 'string' && dnsSubdomain(name).length === 0);
  return areNames && new Set(value).size === value.length;
}
