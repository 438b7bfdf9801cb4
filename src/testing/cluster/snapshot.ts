/**
 * The state of a test cluster at one moment: what is stored, the time, and where randomness is. Components keep no state that
 * they could not find again. A file has a line of JSON that describes the cluster, then a line for each object.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { StoreImage } from '../../store/memory/memory-store.ts';
import type { Row } from '../../store/store.ts';
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

const FORMAT = 'quarterdeck-test-cluster';
const VERSION = 1;

export class ClusterSnapshot implements Snapshot {
  readonly #state: ClusterState;

  constructor(state: ClusterState) {
    this.#state = state;
  }

  static async load(file: string): Promise<ClusterSnapshot> {
    return new ClusterSnapshot(parse(file, await readFile(file, 'utf8')));
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
    const { image, ...header } = this.#state;
    const lines = [
      JSON.stringify({ snapshot: FORMAT, format: VERSION, revision: image.revision, ...header }),
      ...image.rows.map(({ key, revision, value }) => JSON.stringify([key, revision, value.toString('utf8')])),
    ];
    await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  }
}

function parse(file: string, text: string): ClusterState {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const { snapshot, format, revision, ...header } = headerOf(first);
  if (snapshot !== FORMAT) throw new Error(`${file} is not a snapshot of a test cluster`);
  if (format !== VERSION) throw new Error(`${file} has format ${format}, and this release reads format ${VERSION}`);
  const rows = lines.map((line): Row => {
    const [key, at, value] = JSON.parse(line);
    return { key, revision: at, value: Buffer.from(value) };
  });
  return { ...(header as unknown as Omit<ClusterState, 'image'>), image: { revision: revision as number, rows } };
}

function headerOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {}; // Some other file.
  }
}
