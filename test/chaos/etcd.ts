/** The etcd of a run: the one that `qd up --ha` runs beside each server, or members that the run starts for `--store etcd`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/base/time/clock.ts';
import type { TlsOptions } from '../../src/protocols/grpc/client.ts';
import { MembersClient } from '../../src/store/etcd/members/client.ts';
import { untilPrints } from '../e2e/machines/landscape.ts';

/** A machine with a server. */
export interface ServerMachine {
  readonly name: string;
  readonly address: string;
  readonly directory: string;
  /** The command that runs another one there. */
  readonly enter: readonly string[];
}

export interface Etcd {
  /** Starts the members that do not run and that no server starts. */
  start(): Promise<void>;
  /** The flags of a server's first start. `join` resolves with those that a running server prints. */
  flags(machine: ServerMachine, join: () => Promise<readonly string[]>): Promise<readonly string[]>;
  pids(name: string): readonly number[];
  /** The machine whose member leads; undefined while there is none. */
  leader(): Promise<string | undefined>;
}

const PORTS = { client: 2379, peer: 2380 };
const ADDRESS_FLAG = ({ address }: ServerMachine) => ['--bind-address', address];

export class OwnEtcd implements Etcd {
  readonly #machines: readonly ServerMachine[];

  constructor(machines: readonly ServerMachine[]) {
    this.#machines = machines;
  }

  async start(): Promise<void> {
    // Each server has started its own.
  }

  async flags(machine: ServerMachine, join: () => Promise<readonly string[]>): Promise<readonly string[]> {
    // These machines share their host name.
    const named = ['--server-name', machine.name];
    return machine === this.#machines[0] ? ['--ha', ...ADDRESS_FLAG(machine), ...named] : [...(await join()), ...named];
  }

  pids(name: string): readonly number[] {
    const configuration = join(folderOf(this.#machine(name)), 'etcd.json');
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry) && commandLine(entry).includes(configuration))
      .map(Number);
  }

  leader(): Promise<string | undefined> {
    return leaderOf(this.#machines, async (machine) => {
      const [ca, cert, key] = await Promise.all(
        ['ca.crt', 'member.crt', 'member.key'].map((name) => readFile(join(folderOf(machine), 'pki', name))),
      );
      return { url: `https://${machine.address}:${PORTS.client}`, tls: { ca: ca!, cert: cert!, key: key! } };
    });
  }

  #machine(name: string): ServerMachine {
    return this.#machines.find((each) => each.name === name)!;
  }
}

export class ExternalEtcd implements Etcd {
  readonly #machines: readonly ServerMachine[];
  readonly #children = new Map<string, ChildProcess>();

  constructor(machines: readonly ServerMachine[]) {
    this.#machines = machines;
  }

  async start(): Promise<void> {
    await Promise.all(
      this.#machines.filter(({ name }) => !isRunning(this.#children.get(name))).map((each) => this.#start(each)),
    );
  }

  async flags(machine: ServerMachine): Promise<readonly string[]> {
    const [first] = this.#machines;
    const key = machine === first ? [] : ['--encryption-key-file', join(first!.directory, 'data', 'encryption.key')];
    // Its own member comes first.
    const order = [machine, ...this.#machines.filter((each) => each !== machine)];
    const urls = order.map(({ address }) => `http://${address}:${PORTS.client}`);
    return ['--store', 'etcd', '--etcd-servers', urls.join(','), ...key, ...ADDRESS_FLAG(machine)];
  }

  pids(name: string): readonly number[] {
    const child = this.#children.get(name);
    return isRunning(child) ? [child!.pid!] : [];
  }

  leader(): Promise<string | undefined> {
    return leaderOf(this.#machines, async ({ address }) => ({ url: `http://${address}:${PORTS.client}`, tls: {} }));
  }

  async #start({ name, address, directory, enter: [first, ...rest] }: ServerMachine): Promise<void> {
    const [client, peer] = [`http://${address}:${PORTS.client}`, `http://${address}:${PORTS.peer}`];
    const cluster = this.#machines.map((each) => `${each.name}=http://${each.address}:${PORTS.peer}`);
    const args = [
      ...[`--name=${name}`, `--data-dir=${join(directory, 'etcd')}`, '--pre-vote'],
      ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
      ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
      `--initial-cluster=${cluster.join(',')}`,
    ];
    const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch };
    const child = spawn(first!, [...rest, 'etcd', ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
    this.#children.set(name, child);
    await untilPrints(child, 'ready to serve client requests');
    for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').resume();
  }
}

interface Reached {
  readonly url: string;
  readonly tls: TlsOptions;
}

const STATUS_TIMEOUT_MS = 1_000;

async function leaderOf(
  machines: readonly ServerMachine[],
  reach: (machine: ServerMachine) => Promise<Reached>,
): Promise<string | undefined> {
  const leads = await Promise.all(
    machines.map(async (machine) => {
      const { url, tls } = await reach(machine);
      const options = { endpoints: [url], tls, clock: systemClock, timeoutMilliseconds: STATUS_TIMEOUT_MS };
      const client = new MembersClient(options);
      try {
        const { id, leader } = await client.status();
        return id === leader;
      } catch {
        return false; // It is away.
      } finally {
        client.close();
      }
    }),
  );
  return machines[leads.indexOf(true)]?.name;
}

const folderOf = ({ directory }: ServerMachine) => join(directory, 'data', 'etcd');

function isRunning(child: ChildProcess | undefined): boolean {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It has ended.
  }
}
