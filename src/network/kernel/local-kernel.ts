/** Performs the calls on this machine, with `nft` and, for conntrack, perl. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { BlockList, isIPv6, type Server } from 'node:net';
import { availableParallelism, networkInterfaces } from 'node:os';
import { runProgram } from '../../base/programs/run-program.ts';
import { CONNTRACK_SETTINGS, conntrackValue } from './conntrack/conntrack-settings.ts';
import { FORGET_PROGRAM, forgetInput } from './conntrack/forget-connections.ts';
import type { Command, Kernel, NetworkSettings, StaleConnections } from './kernel.ts';
import { listenInNamespace } from './ports/listen-in-namespace.ts';
import { type ListeningSocket, listeningSockets, SOCKET_FILES } from './ports/listening-sockets.ts';
import { removalText, transactionText } from './transaction-text.ts';

export interface LocalKernelOptions {
  /** Path of the program. */
  readonly nft: string;
  /** Path of the program; undefined: connections cannot be forgotten. */
  readonly perl: string | undefined;
  /** A command that runs another one in the network namespace of the node; empty: the namespace of this process. */
  readonly enter: readonly string[];
}

/** Output of `nft -j` for maps whose keys are a protocol and a port. */
interface PortMapListing {
  readonly nftables: readonly {
    readonly map?: {
      readonly name: string;
      readonly table: string;
      readonly elem?: readonly (readonly [{ readonly concat?: readonly (string | number)[] }, unknown])[];
    };
  }[];
}

/** A port of this machine that a table leads elsewhere. */
export interface LedPort {
  readonly table: string;
  readonly protocol: string;
  readonly port: number;
}

/** Output of `nft -j` for sets. */
interface SetListing {
  readonly nftables: readonly {
    readonly set?: {
      readonly name: string;
      readonly table: string;
      readonly elem?: readonly (string | { readonly prefix?: { readonly addr: string; readonly len: number } })[];
    };
  }[];
}

const TABLE_PREFIX = 'qd-';
const FORWARDING = ['net/ipv4/ip_forward', 'net/ipv6/conf/all/forwarding'];
const BRIDGE_FILTERS = ['net/bridge/bridge-nf-call-iptables', 'net/bridge/bridge-nf-call-ip6tables'];

/** Table that no other program uses. */
const PROBE_TABLE = 'qd-probe';

export class LocalKernel implements Kernel {
  constructor(private readonly options: LocalKernelOptions) {}

  /** Reports whether this process may change nftables. */
  isUsable(): Promise<boolean> {
    return this.#nft(removalText(PROBE_TABLE)).then(
      () => true,
      () => false,
    );
  }

  async apply(table: string, commands: readonly Command[]): Promise<void> {
    if (commands.length > 0) await this.#nft(await transactionText(table, commands));
  }

  remove(table: string): Promise<void> {
    return this.#nft(removalText(table));
  }

  /** The ranges in the sets of this name, in the tables of all nodes of this machine. */
  async rangesIn(set: string): Promise<readonly string[]> {
    const { nft, enter } = this.options;
    const { nftables } = JSON.parse(await runProgram([...enter, nft, '-j', 'list', 'sets', 'inet'])) as SetListing;
    return nftables
      .flatMap((entry) => entry.set ?? [])
      .filter(({ name, table }) => name === set && table.startsWith(TABLE_PREFIX))
      .flatMap(({ elem = [] }) => elem.flatMap((each) => (typeof each === 'object' ? (each.prefix ?? []) : [])))
      .map(({ addr, len }) => `${addr}/${len}`);
  }

  /** The ports in the maps of these names, in the tables of all nodes of this machine. */
  async portsIn(names: readonly string[]): Promise<readonly LedPort[]> {
    const { nft, enter } = this.options;
    const { nftables } = JSON.parse(await runProgram([...enter, nft, '-j', 'list', 'maps', 'inet'])) as PortMapListing;
    return nftables
      .flatMap(({ map }) => (map && names.includes(map.name) && map.table.startsWith(TABLE_PREFIX) ? map : []))
      .flatMap(({ table, elem = [] }) =>
        elem.map(([{ concat = [] }]) => ({ table, protocol: String(concat[0]), port: Number(concat[1]) })),
      );
  }

  /** Reports whether the table exists. */
  has(table: string): Promise<boolean> {
    const { nft, enter } = this.options;
    return runProgram([...enter, nft, 'list', 'sets', 'table', 'inet', table]).then(
      () => true,
      () => false,
    );
  }

  async forget(connections: readonly StaleConnections[]): Promise<void> {
    if (connections.length === 0) return;
    const { perl, enter } = this.options;
    if (perl === undefined) throw new Error('forgetting connections needs perl');
    await runProgram([...enter, perl, '-e', FORGET_PROGRAM], { input: forgetInput(connections) });
  }

  async prepare(): Promise<NetworkSettings> {
    for (const setting of FORWARDING) await this.#turnOn(setting);
    const [filtersBridges] = await Promise.all(BRIDGE_FILTERS.map((setting) => this.#turnOn(setting)));
    return { filtersBridges: filtersBridges === true };
  }

  async setConntrack(): Promise<void> {
    const cores = availableParallelism();
    for (const setting of CONNTRACK_SETTINGS) {
      // Settings are missing in a kernel without connection tracking, and settings of the whole machine in a network
      // namespace.
      const content = await readIn(this.options.enter, `/proc/sys/${setting}`).catch(() => '');
      const value = conntrackValue(setting, content, cores);
      if (value !== undefined) await this.#write(setting, value);
    }
  }

  async listen(server: Server, port: number): Promise<void> {
    const { enter } = this.options;
    const from = enter.length === 0 ? port : await listenInNamespace(enter, port);
    await listening(server, from);
  }

  async routeLoopback(podRanges: readonly string[]): Promise<void> {
    // No program in the namespace of a node would use its loopback address.
    if (this.options.enter.length > 0) return;
    const ranges = new BlockList();
    for (const range of podRanges) {
      const [base = '', length] = range.split('/');
      ranges.addSubnet(base, Number(length), isIPv6(base) ? 'ipv6' : 'ipv4');
    }
    for (const [device, addresses = []] of Object.entries(networkInterfaces())) {
      const isOfPods = addresses.some(({ address, family }) =>
        ranges.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4'),
      );
      if (isOfPods) await this.#turnOn(`net/ipv4/conf/${device}/route_localnet`);
    }
  }

  async #nft(text: string): Promise<void> {
    const { nft, enter } = this.options;
    await runProgram([...enter, nft, '-f', '-'], { input: text });
  }

  #turnOn(setting: string): Promise<boolean> {
    return this.#write(setting, '1');
  }

  /** Returns whether it has that value: a machine need not have the setting. */
  async #write(setting: string, value: string): Promise<boolean> {
    const path = `/proc/sys/${setting}`;
    const { enter } = this.options;
    const write =
      enter.length > 0
        ? runProgram([...enter, '/usr/bin/tee', path], { input: value }).then(() => {})
        : writeFile(path, value);
    return write.then(
      () => true,
      () => false,
    );
  }
}

/** Needs no rights. `enter`: a command that runs another one in the network namespace; empty: that of this process. */
export async function readListeners(enter: readonly string[] = []): Promise<readonly ListeningSocket[]> {
  const sockets = await Promise.all(
    SOCKET_FILES.map(async (file) => {
      // A machine need not have both families.
      const text = await readIn(enter, `/proc/net/${file}`).catch(() => '');
      return listeningSockets(file, text);
    }),
  );
  return sockets.flat();
}

/** Reads a file of /proc as processes in a network namespace see it. */
function readIn(enter: readonly string[], path: string): Promise<string> {
  return enter.length > 0 ? runProgram([...enter, '/bin/cat', path]) : readFile(path, 'utf8');
}

/** Resolves when the server listens on a port of this process's network, or on the socket of another server. */
export async function listening(server: Server, from: number | Server): Promise<void> {
  server.listen(from);
  await once(server, 'listening');
}
