/** Starts the measured programs and reads their memory and processor time. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BareOptions } from './bare.ts';
import type { Target } from './load.ts';

export interface Program extends Target {
  readonly pid: number;
  /** Milliseconds from the process's start until it was ready. */
  readonly readyAfter: number;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
export const TOKEN = 'bench-token';
/** Token of a user without permissions. */
export const READER_TOKEN = 'reader-token';
/** Token of another such user. */
export const VISITOR_TOKEN = 'visitor-token';

/** The built `qd up` in a directory, without nodes unless `flags` ask for some. */
export function startQd(root: string, directory: string, flags: readonly string[] = []): Promise<Program> {
  return startUp(join(root, 'dist', 'qd.js'), directory, flags);
}

/** Starts the same program without `managedFields`. */
export function startUntracked(root: string, directory: string, flags: readonly string[]): Promise<Program> {
  return startUp(join(root, '.cache', 'bench', 'untracked.cjs'), directory, flags);
}

function startUp(script: string, directory: string, flags: readonly string[]): Promise<Program> {
  const tokens = join(directory, '..', 'tokens.csv');
  const args = [
    ...['up', '--data-dir', directory, '--port', '0', '--token-auth-file', tokens],
    ...[
      '--kubeconfig',
      join(directory, '..', 'kubeconfig'),
      '--runtime',
      'simulated',
      '--nodes',
      '0',
      '--wait=false',
      ...flags,
    ],
  ];
  return start(script, args, /^Ready .*(https:\S+)/m);
}

/** The built `qd agent`, until it has joined. */
export function startAgent(root: string, flags: readonly string[]): Promise<Program> {
  return start(join(root, 'dist', 'qd.js'), ['agent', ...flags], /^Node .* joined/m);
}

export const tokenFile = `${TOKEN},bench,1,"system:masters"\n${READER_TOKEN},reader,2\n${VISITOR_TOKEN},visitor,3\n`;

export async function startBare(root: string, options: BareOptions): Promise<Program> {
  return start(join(root, '.cache', 'bench', 'bare.mjs'), [JSON.stringify(options)], /^\d+$/m);
}

/** The TLS server of pods/relay.ts, with the certificate of a cluster. */
export function startRelay(root: string, data: string, source: string): Promise<Program> {
  const files = ['apiserver.crt', 'apiserver.key'].map((name) => join(data, 'pki', name));
  return start(join(root, '.cache', 'bench', 'pods', 'relay.mjs'), [...files, source], /^\d+$/m);
}

async function start(script: string, args: readonly string[], ready: RegExp): Promise<Program> {
  const began = performance.now();
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const found = await output(child, ready);
  const readyAfter = performance.now() - began;
  return {
    origin: found.startsWith('https:') ? found : `https://127.0.0.1:${found}`,
    token: TOKEN,
    pid: child.pid!,
    readyAfter,
    stop: () => stop(child),
  };
}

/** Starts a separate etcd in a directory; undefined when none is installed. */
export async function startEtcd(directory: string): Promise<{ url: string; stop(): Promise<void> } | undefined> {
  try {
    await promisify(execFile)('etcd', ['--version'], { env: etcdEnvironment() });
  } catch {
    return undefined;
  }
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const args = [
    ...['--data-dir', directory, '--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ];
  const child = spawn('etcd', args, { stdio: ['ignore', 'pipe', 'pipe'], env: etcdEnvironment() });
  await output(child, /ready to serve client requests/);
  return { url: client, stop: () => stop(child) };
}

/** Environment in which Debian's etcd runs on arm64. */
function etcdEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Waits for a line of the program; its whole output goes into the error when it ends instead. */
async function output(child: ChildProcess, pattern: RegExp): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${child.spawnargs.join(' ')} did not start: ${said}`));
    }, START_TIMEOUT_MS);
    const onData = (chunk: Buffer) => {
      said += chunk;
      const found = pattern.exec(said);
      if (!found) return;
      clearTimeout(timer);
      child.stdout?.off('data', onData).resume();
      child.stderr?.off('data', onData).resume();
      child.removeAllListeners('exit');
      resolve(found[1] ?? found[0]);
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.on('error', reject);
    child.on('exit', () => clearTimeout(timer));
    child.on('exit', (code) => reject(new Error(`${child.spawnfile} ended with ${code}: ${said}`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Resident memory in MB. */
export function memoryOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

/** Processor time used so far, in seconds. */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
