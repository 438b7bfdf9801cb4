/**
 * Measures history. Creates: the built program with it beside the same program without it, under the same load by turns. Reads: the archive of
 * an embedded store beside the store, in this process: a namespace of 10,000 objects at a moment after which all of them have
 * changed, and the 1,000 changes of one object; each beside a list of as many objects.
 */
import { join } from 'node:path';
import { silent } from '../src/base/log.ts';
import { systemClock } from '../src/base/time/clock.ts';
import type { Archive } from '../src/store/archive/archive.ts';
import { openArchive } from '../src/store/archive/open.ts';
import { openEmbeddedStore, type Store } from '../src/store/index.ts';
import { largePod } from './bodies.ts';
import { median } from './documents.ts';
import { generate, type Target, type Traffic } from './load.ts';
import { cpuOf, type Program, startQd } from './programs.ts';
import type { Figure } from './report.ts';

export interface HistoryBenchOptions {
  readonly root: string;
  readonly directory: string;
  readonly seconds: number;
  /** Flags of both programs. */
  readonly flags: readonly string[];
  /** Creates the objects that the load needs. */
  readonly seed: (target: Target) => Promise<void>;
  readonly create: Traffic & { readonly type: 'create' };
  wanted(name: string): boolean;
  record(figure: Figure): void;
}

const CREATE = 'history: what it adds to the time of a create';
const PROCESSOR = 'history: what it adds to the processor time of a create';
const STATE = 'history: a past namespace of 10,000, to a list of it';
const CHANGES = 'history: 1,000 changes of an object, to a list of as many';

const ROUNDS = 7;
const CONNECTIONS = 32;
const OBJECTS = 10_000;
const VERSIONS = 1_000;
const READS = 9;

export async function measureHistory(options: HistoryBenchOptions): Promise<void> {
  const { wanted, record, directory } = options;
  if (wanted(CREATE) || wanted(PROCESSOR)) {
    const { time, processor } = await costOfCreates(options);
    record({ name: CREATE, unit: '%', qd: time, promise: 5 });
    record({ name: PROCESSOR, unit: '%', qd: processor });
  }
  if (!wanted(STATE) && !wanted(CHANGES)) return;
  const { state, changes } = await costOfReads(join(directory, 'reads'));
  if (wanted(STATE)) record({ name: STATE, unit: '', qd: state, promise: 3 });
  if (wanted(CHANGES)) record({ name: CHANGES, unit: '', qd: changes, promise: 3 });
}

/** What history adds, in percent. */
interface CreateCost {
  readonly time: number;
  readonly processor: number;
}

async function costOfCreates({
  root,
  directory,
  flags,
  seed,
  create,
  seconds,
}: HistoryBenchOptions): Promise<CreateCost> {
  const programs: Program[] = [];
  try {
    programs.push(await startQd(root, join(directory, 'with'), flags));
    programs.push(await startQd(root, join(directory, 'without'), [...flags, '--history-duration', '0']));
    for (const program of programs) await seed(program);
    const costOf = async (program: Program, round: number): Promise<CreateCost> => {
      const traffic = { ...create, run: `history-${round}` };
      const before = cpuOf(program.pid);
      const { perSecond, failed } = await generate(program, traffic, { connections: CONNECTIONS, seconds, root });
      if (failed > 0) throw new Error(`${failed} requests failed`);
      return { time: 1 / perSecond, processor: (cpuOf(program.pid) - before) / (perSecond * seconds) };
    };
    const [withIt, without] = programs as [Program, Program];
    const added: CreateCost[] = [];
    // In the first round the code is compiled. Each goes first in every second round.
    for (let round = 0; round <= ROUNDS; round++) {
      const order = round % 2 === 0 ? [withIt, without] : [without, withIt];
      const costs = new Map<Program, CreateCost>();
      for (const program of order) costs.set(program, await costOf(program, round));
      const [more, less] = [costs.get(withIt)!, costs.get(without)!];
      const share = (kind: keyof CreateCost) => (more[kind] / less[kind] - 1) * 100;
      if (round > 0) added.push({ time: share('time'), processor: share('processor') });
    }
    return { time: median(added.map(({ time }) => time)), processor: median(added.map(({ processor }) => processor)) };
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
}

const NAMESPACE = '/registry/core/pods/bench/';
const SINGLE = '/registry/core/pods/single/web';
const LIMITS = { milliseconds: 7 * 86_400_000, bytes: 2 ** 31 };

async function costOfReads(directory: string): Promise<{ readonly state: number; readonly changes: number }> {
  const store = await openEmbeddedStore({ directory: join(directory, 'store'), clock: systemClock });
  const archive = await openArchive({
    directory: join(directory, 'history'),
    store,
    clock: systemClock,
    log: silent,
    ...LIMITS,
    prefix: '/registry/',
    except: [],
  });
  try {
    const past = await write(store, OBJECTS, (index) => `${NAMESPACE}pod-${index}`);
    await write(store, OBJECTS, (index) => `${NAMESPACE}pod-${index}`);
    await write(store, VERSIONS, () => SINGLE);
    await archive.reached(store.revision());
    const state = await ratio(
      () => archive.list(NAMESPACE, { revision: past }),
      () => store.list(NAMESPACE),
    );
    const changes = await ratio(
      () => changesOf(archive),
      () => store.list(NAMESPACE, { limit: VERSIONS }),
    );
    return { state, changes };
  } finally {
    await archive.close();
    await store.close();
  }
}

/** Writes objects of different content, and resolves with the last revision. */
async function write(store: Store, count: number, keyOf: (index: number) => string): Promise<number> {
  const origin = {
    user: 'bench',
    client: 'bench/1',
    manager: 'bench',
    request: 'b3b2c1a0-0000-4000-8000-000000000000',
  };
  const revisions = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const value = Buffer.from(JSON.stringify(largePod(index)));
      return store.commit([{ key: keyOf(index), value }], [], origin);
    }),
  );
  return Math.max(...revisions);
}

async function changesOf(archive: Archive): Promise<number> {
  let count = 0;
  for await (const { value } of archive.changes({ key: SINGLE })) if (value) count++;
  if (count !== VERSIONS) throw new Error(`there are ${count} changes instead of ${VERSIONS}`);
  return count;
}

/** The median of the ratios of two durations, measured by turns. */
async function ratio(first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<number> {
  const timed = async (work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  const ratios: number[] = [];
  for (let round = 0; round <= READS; round++) {
    const [a, b] = [await timed(first), await timed(second)];
    if (round > 0) ratios.push(a / b);
  }
  return median(ratios);
}
