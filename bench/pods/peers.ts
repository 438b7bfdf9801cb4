/** Peers that the figures of pods are compared with. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silent } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { openContainerd } from '../../src/node/containerd/open.ts';
import { World } from '../../test/runtimes/world.ts';
import { socketOf } from './cluster.ts';

const run = promisify(execFile);

/** Interface to the same containerd without a cluster. */
export interface Cri {
  /** Milliseconds until a pod of one container has been started. */
  start(): Promise<number>;
  /** Reports whether a container is gone. */
  isGone(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** `directory` is that of a node whose containerd has a network. */
export async function openCri(directory: string): Promise<Cri> {
  const options = { name: 'bench-cri', podCIDRs: [], path: process.env.PATH ?? '', clock: systemClock, log: silent };
  const endpoint = { socket: socketOf(directory) };
  const own = join(directory, 'bench-cri');
  await mkdir(own);
  const open = () => openContainerd({ ...options, endpoint, directory: own });
  const world = new World({ open, stop: async () => {}, directory: own });
  await world.start();
  return {
    async start() {
      const began = performance.now();
      await world.run('exec sleep 1000');
      return performance.now() - began;
    },
    isGone: async (id) => (await world.runtime.container(id)) === undefined,
    async close() {
      await world.removeAll();
      await world.stop();
    },
  };
}

let executions = 0;

/** Milliseconds that `ctr task exec` takes. */
export async function ctrExec(directory: string, container: string, command: readonly string[]): Promise<number> {
  const began = performance.now();
  const where = ['--address', socketOf(directory), '--namespace', 'k8s.io'];
  await run('ctr', [...where, 'task', 'exec', '--exec-id', `bench-${++executions}`, container, ...command]);
  return performance.now() - began;
}
