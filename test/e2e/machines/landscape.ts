/**
 * Machines as network namespaces: `a` and `b` on one link, `c` on another one, and a router between the two. This process is on
 * the link of `a` and `b`, and reaches `c` over the router. It needs root and `ip`.
 */

import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';

export type MachineName = 'a' | 'b' | 'c';

/** Test files run at the same time: each has links of its own. */
export interface Links {
  readonly addresses: Readonly<Record<MachineName, string>>;
  /** The address of this process. */
  readonly own: string;
  readonly router: readonly [string, string];
}

/** The links 192.168.N.0/24, of `a` and `b`, and the one after it, of `c`. */
export function linksAt(network: number): Links {
  const [near, far] = [`192.168.${network}`, `192.168.${network + 1}`];
  return {
    addresses: { a: `${near}.1`, b: `${near}.2`, c: `${far}.3` },
    own: `${near}.253`,
    router: [`${near}.254`, `${far}.254`],
  };
}

export interface Landscape {
  /** The command that runs another one on a machine. */
  enter(machine: MachineName): readonly string[];
  /** Runs a command on a machine, and returns its output. */
  run(machine: MachineName, ...command: readonly string[]): string;
  /** Interfaces, routes and nftables tables that a machine did not have at the start. */
  traces(machine: MachineName): readonly string[];
  close(): void;
}

export function openLandscape({ addresses, own, router: gateways }: Links): Landscape {
  const prefix = `qdlab${process.pid % 100_000}`;
  const space = (name: string) => `${prefix}${name}`;
  const ip = (text: string, inside: readonly string[] = []) =>
    execFileSync('ip', [...inside, '-batch', '-'], { input: `${text.trim()}\n` });
  const router = ['-n', space('r')];
  const names = ['a', 'b', 'c'] as const;
  for (const name of ['r', ...names]) ip(`netns add ${space(name)}`);
  ip(
    `link add br0 type bridge
     addr add ${gateways[0]}/24 dev br0
     link set br0 up
     link add to-c type veth peer name eth0 netns ${space('c')}
     addr add ${gateways[1]}/24 dev to-c
     link set to-c up`,
    router,
  );
  for (const name of ['a', 'b']) {
    ip(`link add to-${name} type veth peer name eth0 netns ${space(name)}\nlink set to-${name} master br0 up`, router);
  }
  for (const name of names) {
    ip(
      `link set lo up
       addr add ${addresses[name]}/24 dev eth0
       link set eth0 up
       route add default via ${name === 'c' ? gateways[1] : gateways[0]}`,
      ['-n', space(name)],
    );
  }
  ip(
    `link add ${prefix} type veth peer name own netns ${space('r')}\naddr add ${own}/24 dev ${prefix}\nlink set ${prefix} up`,
  );
  ip('link set own master br0 up', router);
  ip(`route add ${addresses.c}/32 via ${gateways[0]} dev ${prefix}`);
  // Unlike `ip netns exec`, it leaves /sys as it is, which containers need.
  const enter = (name: string) => ['/usr/bin/nsenter', `--net=/run/netns/${space(name)}`];
  const run = (name: string, ...command: readonly string[]) =>
    execFileSync('/usr/bin/nsenter', [...enter(name).slice(1), ...command], { encoding: 'utf8' });
  run('r', 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
  /** The tables of iptables stay when their rules are gone: of those, the rules count. */
  const tables = (machine: MachineName) =>
    run(machine, 'nft', 'list', 'tables').replace(/^table ip6? (nat|filter|mangle|raw)$/gm, (table) =>
      run(machine, 'nft', 'list', ...table.split(' '))
        .split('\n')
        .filter((line) => !/^\s*(table .*|chain .*|type .* hook .*|})?$/.test(line))
        .join('\n'),
    );
  const things = (machine: MachineName) =>
    [run(machine, 'ip', '-o', 'link'), run(machine, 'ip', 'route'), tables(machine)]
      .flatMap((text) => text.split('\n'))
      .map((line) => line.replace(/^\d+: ([^:@]+).*/, 'link $1').trim())
      .filter((line) => line !== '');
  const before = new Map(names.map((name) => [name, things(name)]));
  return {
    enter,
    run,
    traces: (machine) => things(machine).filter((each) => !before.get(machine)?.includes(each)),
    close() {
      for (const name of ['r', ...names]) ip(`netns delete ${space(name)}`);
    },
  };
}

/** Resolves when the program prints the text; rejects with its output when it ends before. */
export function untilPrints(child: ChildProcess, text: string): Promise<void> {
  let said = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      said += chunk;
      if (said.includes(text)) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.on('exit', (code) => reject(new Error(`it ended with ${code}: ${said}`)));
  });
}
