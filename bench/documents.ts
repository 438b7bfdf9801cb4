/**
 * Measures the requests that kubectl sends before it does anything: discovery and schemas, of servers that nothing was
 * requested from yet, and again. Latencies of single requests over open connections, in milliseconds.
 */
import { Agent } from 'node:https';
import { get } from './http.ts';
import type { Target } from './load.ts';
import type { Program } from './programs.ts';

export interface FirstUse {
  /** `/api` and `/apis` with everything in them, both at once as kubectl asks for them. */
  readonly discovery: Twice;
  /** Walk from document to document, as older clients do. */
  readonly walk: Twice;
  readonly openApi: Twice;
}

interface Twice {
  readonly first: number;
  readonly again: number;
}

const AGGREGATED = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json' };

/** Headers of kubectl's requests. */
export const TABLE = {
  accept:
    'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
};

/** Measures one new server per round; returns the median of each figure. */
export async function measureFirstUse(start: (round: number) => Promise<Program>, rounds: number): Promise<FirstUse> {
  const found: FirstUse[] = [];
  for (let round = 0; round < rounds; round++) {
    const program = await start(round);
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 8 });
    try {
      await openConnections(program, agent);
      found.push({
        discovery: await twice(() => together(program, ['/api', '/apis'], agent, AGGREGATED)),
        walk: await twice(() => walk(program, agent)),
        openApi: await twice(() => get(program, '/openapi/v2', agent)),
      });
    } finally {
      agent.destroy();
      await program.stop();
    }
  }
  const middle = (pick: (use: FirstUse) => Twice): Twice => ({
    first: median(found.map((use) => pick(use).first)),
    again: median(found.map((use) => pick(use).again)),
  });
  return {
    discovery: middle((use) => use.discovery),
    walk: middle((use) => use.walk),
    openApi: middle((use) => use.openApi),
  };
}

interface Latency {
  readonly first: number;
  readonly next: number;
  readonly later: number;
}

/**
 * Sends one request at a time, as an interactive user does. Returns the first latency, the median of the twenty after
 * it, and the median of twenty once V8 has compiled the code that runs often enough.
 */
export async function latencyOf(target: Target, path: string, headers: Record<string, string> = {}): Promise<Latency> {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 1 });
  const task = () => get(target, path, agent, headers);
  try {
    await get(target, '/version', agent).catch(() => undefined);
    const { first, again: next } = await twice(task, 20);
    for (let round = 0; round < 150; round++) await task();
    const { again: later } = await twice(task, 20);
    return { first, next, later };
  } finally {
    agent.destroy();
  }
}

async function twice(task: () => Promise<unknown>, times = 5): Promise<Twice> {
  const first = await timed(task);
  const again: number[] = [];
  for (let round = 0; round < times; round++) again.push(await timed(task));
  return { first, again: median(again) };
}

async function timed(task: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await task();
  return performance.now() - began;
}

/** Opens connections, so that handshakes and the client's own first steps are not measured. */
async function openConnections(target: Target, agent: Agent): Promise<void> {
  for (let round = 0; round < 10; round++) await together(target, Array(8).fill('/version'), agent);
}

function together(target: Target, paths: readonly string[], agent: Agent, headers = {}): Promise<Buffer[]> {
  return Promise.all(paths.map((path) => get(target, path, agent, headers)));
}

async function walk(target: Target, agent: Agent): Promise<void> {
  const [, groups] = await together(target, ['/api', '/apis'], agent);
  const versions: string[] = JSON.parse(String(groups)).groups.flatMap(({ versions }: any) =>
    versions.map(({ groupVersion }: any) => `/apis/${groupVersion}`),
  );
  await together(target, ['/api/v1', ...versions], agent);
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
