/**
 * Measures reads of the past through HTTP: a namespace of 10,000 objects at a moment after which all of them have changed, and
 * the 1,000 versions of one object. Each is compared with a list of as many objects, by turns, on one connection.
 */
import { Agent } from 'node:https';
import { largePod } from './bodies.ts';
import { median } from './documents.ts';
import { get, mergePatch, post } from './http.ts';
import { type Program, startQd } from './programs.ts';
import type { Figure } from './report.ts';

interface PastFigures {
  readonly root: string;
  readonly directory: string;
  readonly flags: readonly string[];
  wanted(name: string): boolean;
  record(figure: Figure): void;
}

const STATE = 'past namespace of 10,000 through HTTP, to its list';
const VERSIONS = '1,000 versions of an object through HTTP, to a list';
const NAMESPACE = '/api/v1/namespaces/past';
const ONE = '/api/v1/namespaces/one';
const OBJECTS = 10_000;
const CHANGES = 1_000;
const READS = 11;

export async function measurePast({ root, directory, flags, wanted, record }: PastFigures): Promise<void> {
  if (!wanted(STATE) && !wanted(VERSIONS)) return;
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 32 });
  const first = await startQd(root, directory, flags);
  const moment = await fill(first, agent).finally(() => first.stop());
  // After a restart, nothing of it is in memory.
  const qd = await startQd(root, directory, flags);
  try {
    if (wanted(STATE)) {
      const paths = { past: `/history${NAMESPACE}/pods?at=${moment}`, present: `${NAMESPACE}/pods` };
      record({ name: STATE, unit: '', qd: await ratio(qd, paths, OBJECTS), promise: 3 });
    }
    if (wanted(VERSIONS)) {
      const paths = { past: `/history${ONE}/pods/pod-0?limit=${CHANGES}`, present: `${ONE}/pods?limit=${CHANGES}` };
      record({ name: VERSIONS, unit: '', qd: await ratio(qd, paths, CHANGES), promise: 3 });
    }
  } finally {
    agent.destroy();
    await qd.stop();
  }
}

/** Creates and changes objects. Resolves with the version before the changes. */
async function fill(qd: Program, agent: Agent): Promise<string> {
  for (const name of ['past', 'one'])
    await post(qd, '/api/v1/namespaces', JSON.stringify({ metadata: { name } }), agent);
  const pod = (index: number) => JSON.stringify(largePod(index));
  await each(OBJECTS, (index) => post(qd, `${NAMESPACE}/pods`, pod(index), agent));
  const { metadata } = JSON.parse(String(await get(qd, `${NAMESPACE}/pods?limit=1`, agent)));
  const patch = (color: string) => JSON.stringify({ metadata: { labels: { color } } });
  await each(OBJECTS, (index) => mergePatch(qd, `${NAMESPACE}/pods/pod-${index}`, patch('red'), agent));
  await each(CHANGES, (index) => post(qd, `${ONE}/pods`, pod(index), agent));
  for (let index = 1; index < CHANGES; index++) await mergePatch(qd, `${ONE}/pods/pod-0`, patch(`c${index}`), agent);
  await get(qd, '/history', agent);
  return metadata.resourceVersion;
}

/** Runs `work` for each index, 32 at a time. */
async function each(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

async function ratio(
  qd: Program,
  { past, present }: Record<'past' | 'present', string>,
  count: number,
): Promise<number> {
  const single = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 1 });
  const times = { past: [] as number[], present: [] as number[] };
  try {
    // In the first round the code is compiled.
    for (let round = 0; round <= READS; round++) {
      for (const [name, path] of [['past', past] as const, ['present', present] as const]) {
        const began = performance.now();
        const bytes = await get(qd, path, single);
        if (round > 0) times[name].push(performance.now() - began);
        else if (JSON.parse(String(bytes)).items?.length !== count)
          throw new Error(`${path} has not ${count} items: ${String(bytes).slice(0, 200)}`);
      }
    }
    return median(times.past) / median(times.present);
  } finally {
    single.destroy();
  }
}
