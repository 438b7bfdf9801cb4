/**
 * Measures what clients notice of a backup of 100,000 objects: the latency of gets and merge patches while one is taken, and without it, by
 * turns. The objects are written into the store of a stopped server.
 */
import { Agent } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../src/base/time/clock.ts';
import { openEmbeddedStore } from '../src/store/embedded/open.ts';
import { median } from './documents.ts';
import { get, mergePatch, post } from './http.ts';
import { type Program, startQd } from './programs.ts';
import type { Figure } from './report.ts';

export interface BackupsBench {
  readonly root: string;
  readonly directory: string;
  wanted(name: string): boolean;
  record(figure: Figure): void;
}

const MAPS = '/api/v1/namespaces/default/configmaps';
const OBJECTS = 100_000;
const VALUE_BYTES = 1_500;
const ROUNDS = 3;
const CLIENTS = 4;
/** Time after the start until history has been recorded. */
const SETTLE_MS = 20_000;
const P99 = 'p99 of gets and patches during a backup of 100,000 objects';
const TAKES = 'backup of 100,000 objects';

export async function measureBackups({ root, directory, wanted, record }: BackupsBench): Promise<void> {
  if (![P99, TAKES].some(wanted)) return;
  const data = join(directory, 'backups');
  await fill(root, data);
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: CLIENTS + 1 });
  const qd = await startQd(root, data, ['--backups=false']);
  try {
    await pause(SETTLE_MS);
    const rounds: { quiet: number; loud: number; milliseconds: number }[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const began = performance.now();
      const taking = backUp(qd, agent, `round-${round}`);
      const loud = await latencyUntil(qd, agent, taking);
      const milliseconds = performance.now() - began;
      const quiet = await latencyUntil(qd, agent, pause(Math.min(milliseconds, 10_000)));
      // The first round warms up.
      if (round > 0) rounds.push({ quiet, loud, milliseconds });
    }
    const [quiet, loud] = [median(rounds.map((each) => each.quiet)), median(rounds.map((each) => each.loud))];
    record({ name: P99, unit: 'ms', qd: loud, bare: quiet, promise: 2 * quiet });
    record({ name: TAKES, unit: 'ms', qd: median(rounds.map(({ milliseconds }) => milliseconds)) });
  } finally {
    agent.destroy();
    await qd.stop();
  }
}

/** Copies an object that a server has written, under other names. */
async function fill(root: string, data: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  const qd = await startQd(root, data, ['--backups=false']);
  const map = { metadata: { name: 'copied-000000' }, data: { text: 'x'.repeat(VALUE_BYTES) } };
  await post(qd, MAPS, JSON.stringify(map), agent);
  agent.destroy();
  await qd.stop();
  const store = await openEmbeddedStore({ directory: join(data, 'store'), clock: systemClock });
  const [row] = (await store.list('/registry/core/configmaps/default/copied-', { limit: 1 })).rows;
  const text = row!.value.toString();
  const uid = JSON.parse(text).metadata.uid as string;
  for (let first = 1; first < OBJECTS; first += 1_000) {
    const commits = Array.from({ length: Math.min(1_000, OBJECTS - first) }, (_, offset) => {
      const number = `${first + offset}`.padStart(6, '0');
      const value = text.replaceAll('copied-000000', `copied-${number}`).replace(uid, uid.slice(0, -6) + number);
      return store.commit([{ key: `/registry/core/configmaps/default/copied-${number}`, value: Buffer.from(value) }]);
    });
    await Promise.all(commits);
  }
  await store.close();
}

async function backUp(qd: Program, agent: Agent, id: string): Promise<void> {
  let { request } = JSON.parse(await post(qd, `/backups?id=${id}`, '', agent));
  while (request.state === 'running') {
    await pause(100);
    ({ request } = JSON.parse((await get(qd, '/backups', agent)).toString()));
  }
  if (request.state !== 'done') throw new Error(request.message);
}

/** The 99th percentile of requests of several clients, until the work is done. */
async function latencyUntil(qd: Program, agent: Agent, work: Promise<unknown>): Promise<number> {
  const found: number[] = [];
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const client = async (index: number) => {
    for (let turn = 0; !isDone; turn++) {
      const path = `${MAPS}/copied-${`${(index * 7_919 + turn * 104_729) % OBJECTS}`.padStart(6, '0')}`;
      const began = performance.now();
      if (turn % 2 === 0) await get(qd, path, agent);
      else await mergePatch(qd, path, JSON.stringify({ data: { turn: `${turn}` } }), agent);
      found.push(performance.now() - began);
      await pause(2);
    }
  };
  await Promise.all([done, ...Array.from({ length: CLIENTS }, (_, index) => client(index))]);
  found.sort((a, b) => a - b);
  return found[Math.floor(found.length * 0.99)]!;
}
