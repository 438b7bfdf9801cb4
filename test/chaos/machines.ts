/** Machines as network namespaces on one switch, whose wires can be cut, in one direction too, lose packets, or be narrow. It needs root. */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Packets from a machine to another one that the switch drops. Undefined stands for any machine. */
export interface Drop {
  readonly from?: string;
  readonly to?: string;
  /** Default: all of them. */
  readonly percent?: number;
}

const NETWORK = '192.168.250';
/** The address of this process. */
const OWN_ADDRESS = `${NETWORK}.250`;
/** A packet waits for up to 0.3 seconds; what would have to wait longer is lost. */
const NARROW = ['rate', '2mbit', 'burst', '3000', 'latency', '300ms'];
const END_INTERVAL_MS = 50;
const NSENTER = '/usr/bin/nsenter';

export class Machines {
  readonly names: readonly string[];
  readonly #prefix = `qdx${process.pid % 100_000}`;
  readonly #drops = new Set<Drop>();

  constructor(names: readonly string[]) {
    this.names = names;
    for (const name of ['switch', ...names]) ip(`netns add ${this.#space(name)}`);
    ip('link add br0 type bridge\nlink set br0 up', this.#inside('switch'));
    for (const name of names) {
      ip(
        `link add to-${name} type veth peer name eth0 netns ${this.#space(name)}
         link set to-${name} master br0 up`,
        this.#inside('switch'),
      );
      ip(
        `link set lo up
         addr add ${this.address(name)}/24 dev eth0
         link set eth0 up
         route add default via ${OWN_ADDRESS}`,
        this.#inside(name),
      );
    }
    const own = this.#prefix;
    ip(
      `link add ${own} type veth peer name own netns ${this.#space('switch')}
       addr add ${OWN_ADDRESS}/24 dev ${own}
       link set ${own} up`,
    );
    ip('link set own master br0 up', this.#inside('switch'));
  }

  address(name: string): string {
    return `${NETWORK}.${this.names.indexOf(name) + 1}`;
  }

  /** The command that runs another one on a machine. Unlike `ip netns exec`, it leaves /sys as it is. */
  enter(name: string): readonly string[] {
    return [NSENTER, `--net=/run/netns/${this.#space(name)}`];
  }

  run(name: string, ...command: readonly string[]): string {
    return this.#run(name, command);
  }

  /** Drops packets until the returned function is called. */
  drop(...drops: readonly Drop[]): () => void {
    for (const each of drops) this.#drops.add(each);
    this.#apply();
    return () => {
      for (const each of drops) this.#drops.delete(each);
      this.#apply();
    };
  }

  /**
   * Makes a wire narrow in both directions, so that packets wait before it, until the returned function is called. Delay alone would need
   * a kernel with netem.
   */
  narrow(name: string): () => void {
    const ends = [
      { machine: 'switch', device: `to-${name}` },
      { machine: name, device: 'eth0' },
    ];
    const change = (verb: string, device: string) => ['tc', 'qdisc', verb, 'dev', device, 'root', 'tbf', ...NARROW];
    for (const { machine, device } of ends) this.#run(machine, change('add', device));
    return () => {
      for (const { machine, device } of ends) this.#run(machine, change('delete', device));
    };
  }

  /** Ends every process on the machines, and resolves when none is left. */
  async end(): Promise<void> {
    const spaces = this.names.map((name) => this.#space(name));
    const running = () =>
      spaces.flatMap((space) => execFileSync('ip', ['netns', 'pids', space], { encoding: 'utf8' }).split(/\s+/));
    for (let pids = running(); ; pids = running()) {
      const left = pids.filter((pid) => pid !== '');
      if (left.length === 0) return;
      for (const pid of left) kill(Number(pid));
      await sleep(END_INTERVAL_MS);
    }
  }

  close(): void {
    for (const name of ['switch', ...this.names]) ip(`netns delete ${this.#space(name)}`);
  }

  #apply(): void {
    const rules = [...this.#drops].map(({ from, to, percent }) => [
      ...(from === undefined ? [] : [match('iifname', `to-${from}`)]),
      ...(to === undefined ? [] : [match('oifname', `to-${to}`)]),
      ...(percent === undefined
        ? []
        : [{ match: { op: '<', left: { numgen: { mode: 'random', mod: 100 } }, right: percent } }]),
      { drop: null },
    ]);
    const at = { family: 'bridge', table: 'chaos' };
    const chain = { ...at, name: 'wires', type: 'filter', hook: 'forward', prio: 0, policy: 'accept' };
    const table = { family: 'bridge', name: 'chaos' };
    const commands = [
      { add: { table } },
      { delete: { table } },
      { add: { table } },
      { add: { chain } },
      ...rules.map((expr) => ({ add: { rule: { ...at, chain: 'wires', expr } } })),
    ];
    // nft cannot open the socket that Node gives a program as its input.
    this.#run('switch', ['sh', '-c', 'cat | nft -j -f -'], JSON.stringify({ nftables: commands }));
  }

  #run(name: string, command: readonly string[], input?: string): string {
    return execFileSync(NSENTER, [...this.enter(name).slice(1), ...command], {
      encoding: 'utf8',
      ...(input === undefined ? {} : { input }),
    });
  }

  #space(name: string): string {
    return `${this.#prefix}${name}`;
  }

  #inside(name: string): readonly string[] {
    return ['-n', this.#space(name)];
  }
}

function match(key: string, right: string) {
  return { match: { op: '==', left: { meta: { key } }, right } };
}

function ip(commands: string, inside: readonly string[] = []): void {
  execFileSync('ip', [...inside, '-batch', '-'], { input: `${commands.trim()}\n` });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
