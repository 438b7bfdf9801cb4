/** The figures of real pods. */

import { once } from 'node:events';
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../documents.ts';
import { cpuOf, memoryOf, startRelay } from '../programs.ts';
import type { Figure } from '../report.ts';
import { IMAGE, type NodeUnderTest, withAgent, withNode, withoutContainerd, withoutProcesses } from './cluster.ts';
import { openOciPeer } from './oci-peer.ts';
import { ctrExec, openCri } from './peers.ts';
import { PODS, type ReadyPod } from './pod-api.ts';
import { execute, receive, streamRequest } from './streams.ts';

export interface PodFigures {
  /** The project's folder. */
  readonly root: string;
  /** Directory for the clusters, which are removed afterwards. */
  readonly directory: string;
  readonly wanted: (name: string) => boolean;
  readonly record: (figure: Figure) => void;
  readonly say: (text: string) => void;
}

const SLEEPER = { image: IMAGE, command: ['/bin/sleep', '100000'] };
const HOST_SLEEPER = { image: 'host', command: ['sleep', '100000'] };
const STARTS = 5;
const EXECS = 15;
const TRANSFERS = 3;
const MANY = 50;
const LINES = 150_000;
const LINE = 'x'.repeat(1_023);
const PORT = 8080;
const PORT_BYTES = 256e6;
/** `ctr` needs less than a client of the API: no TLS, no rights, no node to find. */
const MAX_EXEC_EXTRA_MS = 40;
/** Time until V8 has shrunk the heap. */
const SETTLE_MS = 20_000;
const IDLE_MS = 6_000;

export async function measurePods(figures: PodFigures): Promise<void> {
  await onContainerd(figures);
  await onProcesses(figures);
  await inAnAgent(figures);
}

type Measure = (node: NodeUnderTest, figures: PodFigures) => Promise<void>;

/** Measurements by the names of their figures. */
const CONTAINERD: Readonly<Record<string, Measure>> = {
  'pod ready on containerd, pod deleted on containerd': startsOnContainerd,
  'log of 1 KB lines, followed': log,
  'exec on containerd': exec,
  'port-forward': portForward,
};

async function onContainerd(figures: PodFigures): Promise<void> {
  const measures = Object.entries(CONTAINERD).filter(([name]) => figures.wanted(name));
  if (measures.length === 0 || isSkipped(figures, withoutContainerd())) return;
  const { root } = figures;
  await withNode({ root, directory: join(figures.directory, 'containerd'), runtime: 'containerd' }, async (node) => {
    for (const [, measure] of measures) await measure(node, figures);
  });
}

function isSkipped({ say }: PodFigures, reason: string | undefined): boolean {
  if (reason) say(`figures of pods are left out: ${reason}`);
  return reason !== undefined;
}

async function startsOnContainerd({ api, directory }: NodeUnderTest, { record }: PodFigures): Promise<void> {
  const cri = await openCri(directory);
  try {
    const bare: number[] = [];
    const found: number[] = [];
    const ends: number[] = [];
    // The first ones compile code.
    for (let round = 0; round <= STARTS; round++) {
      bare[round] = await cri.start();
      const { pods, milliseconds } = await api.run([`start-${round}`], SLEEPER);
      found[round] = milliseconds;
      ends[round] = await api.kill(pods[0]!.name, () => cri.isGone(pods[0]!.containerId));
    }
    const ours = median(found.slice(1));
    record({ name: 'pod ready on containerd', unit: 'ms', qd: ours, bare: median(bare.slice(1)), promise: 1_000 });
    record({ name: 'pod deleted on containerd', unit: 'ms', qd: median(ends.slice(1)), promise: 500 });
  } finally {
    await cri.close();
  }
}

async function exec({ api, qd, directory }: NodeUnderTest, { record }: PodFigures): Promise<void> {
  const [pod] = (await api.run(['exec'], SLEEPER)).pods as [ReadyPod];
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < EXECS; round++) {
    theirs[round] = await ctrExec(directory, pod.containerId, ['/bin/true']);
    ours[round] = await execute(qd, pod.name, ['/bin/true']);
  }
  const peer = median(theirs);
  record({ name: 'exec on containerd', unit: 'ms', qd: median(ours), bare: peer, promise: peer + MAX_EXEC_EXTRA_MS });
}

/** The log is written by the bench: a container would be slower than the reader. */
async function log(node: NodeUnderTest, { root, directory, record }: PodFigures): Promise<void> {
  const { api, qd } = node;
  const [pod] = (await api.run(['log'], SLEEPER)).pods as [ReadyPod];
  const folder = join(node.directory, 'logs', `default_${pod.name}_${pod.uid}`, 'main');
  const [file = ''] = await readdir(folder);
  const path = join(folder, file);
  // The agent rotates the log from time to time, but not the peer's copy of it.
  const copy = join(directory, 'relayed.log');
  const bytes = await writeLog(copy);
  const relay = await startRelay(root, join(directory, 'containerd', 'data'), `file:${copy}`);
  try {
    const ours: number[] = [];
    const theirs: number[] = [];
    const request = streamRequest(qd, `${PODS}/${pod.name}/log?follow=true`, false);
    for (let round = 0; round < TRANSFERS; round++) {
      theirs[round] = await receive(relay.origin, '\n', bytes);
      const shown = LINES * (LINE.length + 1);
      const rate = await withWholeLog(path, bytes, () => receive(qd.origin, request, shown));
      // In bytes of the file, as for the peer: lines that are left out were read, too.
      ours[round] = (rate * bytes) / shown;
    }
    const peer = Math.max(...theirs);
    const name = 'log of 1 KB lines, followed';
    record({ name, unit: 'MB/s', qd: Math.max(...ours), bare: peer, promise: 0.6 * peer });
  } finally {
    await relay.stop();
  }
}

/** Does something with a log of this size, and once more when it was rotated in the meantime. */
async function withWholeLog<T>(path: string, bytes: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    if (statSync(path).size < bytes) await writeLog(path);
    const { ino } = statSync(path);
    try {
      return await work();
    } catch (error) {
      if (statSync(path).ino === ino) throw error;
    }
  }
}

async function writeLog(path: string): Promise<number> {
  const entry = `2030-01-01T00:00:00.000000000Z stdout F ${LINE}\n`;
  const block = entry.repeat(1_000);
  const out = createWriteStream(path, { flags: existsSync(path) ? 'r+' : 'w' });
  for (let line = 0; line < LINES; line += 1_000) if (!out.write(block)) await once(out, 'drain');
  out.end();
  await once(out, 'finish');
  return LINES * entry.length;
}

async function portForward({ api, qd }: NodeUnderTest, { root, directory, record }: PodFigures): Promise<void> {
  const command = ['/bin/nc', '-ll', '-p', String(PORT), '-e', '/bin/cat', '/dev/zero'];
  const [pod] = (await api.run(['port'], { image: IMAGE, command })).pods as [ReadyPod];
  const relay = await startRelay(root, join(directory, 'containerd', 'data'), `tcp:${pod.podIP}:${PORT}`);
  try {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < TRANSFERS; round++) {
      theirs[round] = await receive(relay.origin, '', PORT_BYTES);
      const request = streamRequest(qd, `${PODS}/${pod.name}/portforward?ports=${PORT}`, true);
      ours[round] = await receive(qd.origin, request, PORT_BYTES);
    }
    const peer = Math.max(...theirs);
    record({ name: 'port-forward', unit: 'MB/s', qd: Math.max(...ours), bare: peer, promise: 0.5 * peer });
  } finally {
    await relay.stop();
  }
}

async function onProcesses(figures: PodFigures): Promise<void> {
  const { root, record, wanted } = figures;
  if (!wanted('pod ready as processes, pod deleted as processes') || isSkipped(figures, withoutProcesses())) return;
  await withNode(
    { root, directory: join(figures.directory, 'process'), runtime: 'process' },
    async ({ api, directory }) => {
      const found: number[] = [];
      const ends: number[] = [];
      const theirs: number[] = [];
      const peer = openOciPeer(join(figures.directory, 'oci'));
      for (let round = 0; round <= STARTS; round++) {
        theirs[round] = await peer.start();
        const { pods, milliseconds } = await api.run([`start-${round}`], HOST_SLEEPER);
        found[round] = milliseconds;
        const files = join(directory, 'process', 'containers', pods[0]!.containerId);
        if (!existsSync(files)) throw new Error(`${files} is not there`);
        ends[round] = await api.kill(pods[0]!.name, async () => !existsSync(files));
      }
      peer.close();
      const bare = median(theirs.slice(1));
      record({ name: 'pod ready as processes', unit: 'ms', qd: median(found.slice(1)), bare, promise: 3 * bare });
      record({ name: 'pod deleted as processes', unit: 'ms', qd: median(ends.slice(1)), promise: 500 });
    },
  );
}

async function inAnAgent(figures: PodFigures): Promise<void> {
  const { root, record, wanted } = figures;
  const name = `${MANY} pods ready on one node`;
  if (!['idle agent', name].some(wanted) || isSkipped(figures, withoutContainerd())) return;
  await withAgent({ root, directory: join(figures.directory, 'agent'), runtime: 'containerd' }, async (node) => {
    const names = Array.from({ length: MANY }, (_, index) => `many-${index}`);
    const { milliseconds } = await node.api.run(names, SLEEPER);
    record({ name, unit: 'ms', qd: milliseconds, promise: 20_000 });
    if (!wanted('idle agent')) return;
    await pause(SETTLE_MS);
    const found: number[] = [];
    for (let stretch = 0; stretch < 5; stretch++) {
      const before = cpuOf(node.pid);
      await pause(IDLE_MS);
      found.push(((cpuOf(node.pid) - before) / (IDLE_MS / 1_000)) * 100);
    }
    record({ name: `idle agent with ${MANY} pods, processor`, unit: '%', qd: median(found), promise: 1 });
    record({ name: `idle agent with ${MANY} pods, memory`, unit: 'MB', qd: memoryOf(node.pid), promise: 80 });
  });
}
