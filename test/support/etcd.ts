import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface TestEtcdOptions {
  readonly flags?: readonly string[];
  /** The address that it listens on; default: loopback. */
  readonly host?: string;
}

/** A real etcd for tests, on ports that were free and in a directory that goes with it. */
export class TestEtcd {
  readonly endpoint: string;
  readonly #directory: string;
  readonly #peer: string;
  readonly #flags: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(
    directory: string,
    ports: readonly number[],
    { flags = [], host = '127.0.0.1' }: TestEtcdOptions,
  ) {
    this.#directory = directory;
    const scheme = flags.some((flag) => flag.startsWith('--cert-file')) ? 'https' : 'http';
    this.endpoint = `${scheme}://${host}:${ports[0]}`;
    this.#peer = `http://127.0.0.1:${ports[1]}`;
    this.#flags = flags;
  }

  static async start(options: TestEtcdOptions = {}): Promise<TestEtcd> {
    const directory = await mkdtemp(join(tmpdir(), 'etcd-'));
    const etcd = new TestEtcd(directory, await freePorts(2), options);
    await etcd.start();
    return etcd;
  }

  /** Starts members of one etcd. */
  static async cluster(count: number): Promise<readonly TestEtcd[]> {
    const directories = await Promise.all(Array.from({ length: count }, () => mkdtemp(join(tmpdir(), 'etcd-'))));
    const ports = await freePorts(2 * count);
    const peers = ports.slice(count).map((port, index) => `test-${index}=http://127.0.0.1:${port}`);
    const members = directories.map((directory, index) => {
      const flags = [`--name=test-${index}`, `--initial-cluster=${peers.join(',')}`];
      return new TestEtcd(directory, [ports[index]!, ports[count + index]!], { flags });
    });
    await Promise.all(members.map((member) => member.start()));
    return members;
  }

  /** Resolves when it reports that it is ready. */
  async start(): Promise<void> {
    const child = spawn(
      'etcd',
      [
        `--name=test`,
        `--data-dir=${this.#directory}`,
        `--listen-client-urls=${this.endpoint}`,
        `--advertise-client-urls=${this.endpoint}`,
        `--listen-peer-urls=${this.#peer}`,
        `--initial-advertise-peer-urls=${this.#peer}`,
        `--initial-cluster=test=${this.#peer}`,
        '--heartbeat-interval=20',
        '--election-timeout=200',
        ...this.#flags,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], env: ENVIRONMENT },
    );
    this.#process = child;
    const output: string[] = [];
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`etcd ended with ${code}: ${output.join('')}`)));
      child.stderr?.on('data', (chunk) => {
        output.push(String(chunk));
        if (/ready to serve client requests|serving (insecure )?client/.test(output.join(''))) resolve();
      });
    });
    child.stderr?.removeAllListeners('data').resume();
  }

  /** Ends the process; its data stays. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.kill(signal);
    });
  }

  /**
   * Stops it where it stands, or lets it go on: connections stay, answers do not come. Resolves when all its threads have stopped: the signal
   * reaches one that runs on another processor a little later.
   */
  async pause(): Promise<void> {
    const tasks = `/proc/${this.#process?.pid}/task`;
    this.#process?.kill('SIGSTOP');
    const isStopped = async (task: string) => /\) T /.test(await readFile(join(tasks, task, 'stat'), 'utf8'));
    for (let stopped = false; !stopped; ) {
      stopped = (await Promise.all((await readdir(tasks)).map(isStopped))).every(Boolean);
    }
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** A way to an endpoint that can be cut and mended. */
export class Wire {
  readonly endpoint: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #whole = true;

  private constructor(server: Server) {
    this.#server = server;
    this.endpoint = `http://127.0.0.1:${portOf(server)}`;
  }

  static async to(endpoint: string): Promise<Wire> {
    const server = createServer();
    await listening(server);
    const wire = new Wire(server);
    server.on('connection', (socket) => wire.#join(socket, new URL(endpoint)));
    return wire;
  }

  cut(): void {
    this.#whole = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#whole = true;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(socket: Socket, { hostname, port }: URL): void {
    if (!this.#whole) return void socket.destroy();
    const other = connect(Number(port), hostname);
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => {}).on('close', () => to.destroy());
      from.pipe(to);
    }
  }
}

/** Environment in which etcd runs on architectures that its authors do not test. */
const ENVIRONMENT = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch };

/** Why tests on etcd cannot run here; undefined: they can. */
export function etcdMissing(): string | undefined {
  try {
    execFileSync('etcd', ['--version'], { stdio: 'ignore', env: ENVIRONMENT });
    return undefined;
  } catch {
    return 'skipped: there is no program "etcd" on this machine';
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(servers.map(listening));
  const ports = servers.map(portOf);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
