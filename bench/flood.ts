/**
 * Measures how one client's flood affects another: the latency of a user who sends one request after the other, with no
 * other client and while another one keeps 200 connections busy. Both are users without special rights, so that both
 * are in the same priority level. The quiet and the loud stretches take turns, and the median of several counts.
 */
import { Agent, request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from './documents.ts';
import { post } from './http.ts';
import { generate, type Target } from './load.ts';
import { type Program, READER_TOKEN, VISITOR_TOKEN } from './programs.ts';

const PATH = '/api/v1/namespaces/default/configmaps/flood';
const ROUNDS = 5;
const SECONDS = 2;

interface Flood {
  /** Latency of the other user's requests, in milliseconds. */
  readonly quiet: number;
  readonly loud: number;
  /** Rate of the flood's requests, per second. */
  readonly perSecond: number;
}

/** The 99th percentile of the other client's latency. */
export async function measureFlood(program: Program, root: string, agent: Agent): Promise<Flood> {
  await prepare(program, agent);
  const visitor = { ...program, token: VISITOR_TOKEN };
  const flooding = { ...program, token: READER_TOKEN };
  const rounds: Flood[] = [];
  await latency(visitor, PATH, SECONDS);
  for (let round = 0; round < ROUNDS; round++) {
    const quiet = await latency(visitor, PATH, SECONDS);
    const flood = generate(flooding, { type: 'read', path: PATH }, { connections: 200, seconds: SECONDS + 2, root });
    // Its connections are opened first.
    await pause(1_000);
    const loud = await latency(visitor, PATH, SECONDS);
    rounds.push({ quiet, loud, perSecond: (await flood).perSecond });
  }
  const of = (field: keyof Flood) => median(rounds.map((round) => round[field]));
  return { quiet: of('quiet'), loud: of('loud'), perSecond: of('perSecond') };
}

async function prepare(program: Program, agent: Agent): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  const subjects = ['reader', 'visitor'].map((name) => ({ kind: 'User', name }));
  await post(program, rbac, JSON.stringify({ metadata: { name: 'flood' }, roleRef, subjects }), agent);
  const map = { metadata: { name: 'flood' }, data: { text: 'x'.repeat(2_000) } };
  await post(program, '/api/v1/namespaces/default/configmaps', JSON.stringify(map), agent);
}

/** The 99th percentile of requests for one path, one after the other, in milliseconds. */
export async function latency({ origin, token }: Target, path: string, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const found: number[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const began = performance.now();
    await new Promise<void>((resolve, reject) => {
      request(origin + path, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`a visitor got ${response.statusCode}`));
        response.resume().on('end', resolve);
      })
        .on('error', reject)
        .end();
    });
    found.push(performance.now() - began);
    await pause(1);
  }
  agent.destroy();
  found.sort((a, b) => a - b);
  return found[Math.floor(found.length * 0.99)]!;
}
