/** Clusters with one node that runs pods. Whatever happens, nothing of them is left. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BUSYBOX, writeImage } from '../../test/runtimes/world.ts';
import type { Target } from '../load.ts';
import { type Program, startAgent, startQd, tokenFile } from '../programs.ts';
import { PodApi } from './pod-api.ts';

const run = promisify(execFile);
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const LOOK_MS = 50;
const READY_TIMEOUT_MS = 60_000;
/** Range of pods. Tests have others. */
const CLUSTER_CIDR = '10.229.0.0/16';

export const IMAGE = 'docker.io/library/bench:1';

/** Returns why there are no figures of containerd here. */
export function withoutContainerd(): string | undefined {
  if (process.getuid?.() !== 0) return 'containerd needs root';
  const missing = ['containerd', 'ctr', 'runc'].filter((program) => !isInstalled(program));
  if (!existsSync(BUSYBOX)) missing.push('busybox');
  return missing.length > 0 ? `${missing.join(', ')} not installed` : undefined;
}

/** Returns why there are no figures of processes here. */
export function withoutProcesses(): string | undefined {
  if (process.getuid?.() !== 0) return 'pods have no network of their own without root';
  const missing = ['runc', 'ip'].filter((program) => !isInstalled(program));
  return missing.length > 0 ? `${missing.join(', ')} not installed` : undefined;
}

const isInstalled = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

export interface NodeUnderTest {
  readonly api: PodApi;
  readonly qd: Target;
  /** The process whose agent runs the pods. */
  readonly pid: number;
  /** The directory of the node. */
  readonly directory: string;
}

interface ClusterOptions {
  /** The project's folder. */
  readonly root: string;
  /** Directory for this cluster alone. */
  readonly directory: string;
  readonly runtime: 'containerd' | 'process';
}

/** A cluster whose node is in the process of `qd up`. */
export async function withNode(options: ClusterOptions, use: (node: NodeUnderTest) => Promise<void>): Promise<void> {
  const { root, runtime } = options;
  const data = dataOf(options);
  const clean = cleanUp(root, [data]);
  try {
    const flags = ['--nodes', '1', '--runtime', runtime, '--allow-host-image', '--cluster-cidr', CLUSTER_CIDR];
    const qd = clean.stops(await startQd(root, data, flags));
    const directory = join(data, 'nodes', 'quarterdeck-node-1');
    await use(await ready({ qd, pid: qd.pid, directory, runtime }));
  } finally {
    await clean.now();
  }
}

/** A cluster whose only node is a `qd agent`. */
export async function withAgent(options: ClusterOptions, use: (node: NodeUnderTest) => Promise<void>): Promise<void> {
  const { root, runtime } = options;
  const data = dataOf(options);
  const agentData = join(options.directory, 'agent');
  const clean = cleanUp(root, [agentData, data]);
  try {
    const qd = clean.stops(await startQd(root, data, ['--cluster-cidr', CLUSTER_CIDR]));
    const kubeconfig = join(options.directory, 'kubeconfig');
    const { stdout: token } = await run(process.execPath, [
      ...[join(root, 'dist', 'qd.js'), 'token', 'create', '--quiet', '--kubeconfig', kubeconfig],
    ]);
    const name = 'bench-agent';
    const agent = clean.stops(
      await startAgent(root, [
        ...['--server', qd.origin, '--token', token.trim(), '--ca-file', join(data, 'pki', 'ca.crt')],
        ...['--node-name', name, '--data-dir', agentData, '--runtime', runtime, '--node-address', '127.0.0.1'],
      ]),
    );
    await use(await ready({ qd, pid: agent.pid, directory: join(agentData, 'nodes', name), runtime }));
  } finally {
    await clean.now();
  }
}

function dataOf({ directory }: ClusterOptions): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'tokens.csv'), tokenFile);
  return join(directory, 'data');
}

/** Stops programs, and ends the pods that their nodes still run. Also after a signal. */
function cleanUp(root: string, directories: readonly string[]) {
  const programs: Pick<Program, 'stop'>[] = [];
  const onSignal = () => void clean.now().finally(() => process.exit(1));
  for (const signal of SIGNALS) process.once(signal, onSignal);
  const clean = {
    stops<P extends Pick<Program, 'stop'>>(program: P): P {
      programs.unshift(program);
      return program;
    },
    async now(): Promise<void> {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      for (const program of programs) await program.stop();
      for (const directory of directories) {
        if (!existsSync(directory)) continue;
        await run(process.execPath, [join(root, 'dist', 'qd.js'), 'reset', '--yes', '--data-dir', directory]);
      }
    },
  };
  return clean;
}

interface Started extends Omit<NodeUnderTest, 'api'> {
  readonly runtime: ClusterOptions['runtime'];
}

/** Waits until the node is Ready and has the image. */
async function ready({ qd, pid, directory, runtime }: Started): Promise<NodeUnderTest> {
  const api = new PodApi(qd);
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!(await api.isNodeReady())) {
    if (performance.now() > deadline) throw new Error('the node did not become ready');
    await pause(LOOK_MS);
  }
  if (runtime === 'containerd') await loadImage(directory);
  return { api, qd, pid, directory };
}

export const socketOf = (directory: string) => join(directory, 'containerd', 'containerd.sock');

async function loadImage(directory: string): Promise<void> {
  const archive = join(directory, 'bench.tar');
  await writeImage(archive, { name: IMAGE });
  await run('ctr', ['--address', socketOf(directory), '--namespace', 'k8s.io', 'images', 'import', archive]);
}
