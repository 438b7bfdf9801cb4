/**
 * Tests the packets that leave and reach the interface of a pod: those with its own addresses, and nothing else. The
 * tests act in the network of the pods with all rights, which is more than any pod has.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { Peer } from '../../network/lab/peer.ts';
import type { Subject, World } from '../world.ts';

const PORT = 8080;
const DENIED_MS = 400;
/** A hardware address that no pod has. */
const FOREIGN_MAC = '02:00:5e:00:53:01';

interface NetworkedPod {
  readonly address: string;
  readonly peer: Peer;
  /** Runs a command in the network of the pod. */
  inside(...command: string[]): string;
  /** MAC address of its interface. */
  readonly mac: string;
}

let count = 0;

/** The process is found by its command line: every runtime keeps it elsewhere. */
async function startPod(world: World): Promise<NetworkedPod> {
  const token = `qd-pod-network-${process.pid}-${count++}`;
  const { sandboxId } = await world.run(`while :; do sleep 1000; done; : ${token}`);
  const pid = await vi.waitFor(() => pidWith(token), { timeout: 10_000 });
  const enter = ['/usr/bin/nsenter', `--net=/proc/${pid}/ns/net`];
  const sandbox = (await world.runtime.sandboxes()).find(({ id }) => id === sandboxId);
  const inside = (...command: string[]) =>
    execFileSync(enter[0]!, [...enter.slice(1), ...command], { encoding: 'utf8', stdio: 'pipe' });
  const peer = new Peer(token, enter);
  await peer.listen(PORT);
  return {
    ...{ address: sandbox!.addresses[0]!, peer, inside },
    mac: linkAddress(inside),
  };
}

/** Reads the address with `ip`: the directory /sys belongs to the network of the process that mounted it. */
function linkAddress(inside: NetworkedPod['inside']): string {
  const [link] = JSON.parse(inside('ip', '-json', 'link', 'show', 'dev', 'eth0')) as { address: string }[];
  return link!.address;
}

function pidWith(token: string): number {
  const text = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    } catch {
      return [];
    }
  };
  const found = readdirSync('/proc').find(
    (pid) => /^\d+$/.test(pid) && text(pid)[0] === '/bin/sh' && text(pid).some((each) => each.endsWith(`: ${token}`)),
  );
  if (found === undefined) throw new Error(`expected a process with ${token}, and found none`);
  return Number(found);
}

/** Gives a pod a further address for a while: plugins of CNI free all that they find at the end. */
async function withAddress({ inside }: NetworkedPod, address: string, use: () => Promise<unknown>): Promise<void> {
  inside('ip', 'addr', 'add', `${address}/32`, 'dev', 'eth0');
  try {
    await use();
  } finally {
    inside('ip', 'addr', 'del', `${address}/32`, 'dev', 'eth0');
  }
}

/** UDP packets that sockets of the pod have received. */
function received({ inside }: NetworkedPod): number {
  const [, values = ''] = inside('cat', '/proc/net/snmp')
    .split('\n')
    .filter((line) => line.startsWith('Udp:'));
  return Number(values.split(' ')[1]);
}

/** Sends a frame through an interface, both of which are arguments. */
const SEND_FRAME = `
socket(my $s, 17, 3, 0) or die "$!";
my $request = pack('a16 x16', $ARGV[0]);
ioctl($s, 0x8933, $request) or die "$!";
my $index = unpack('x16 i', $request);
defined send($s, pack('H*', $ARGV[1]), 0, pack('S n i S C C x8', 17, 0, $index, 0, 0, 6)) or die "$!";
`;

/**
 * Builds a UDP packet with the right addresses, and a priority tag: receivers take such frames for frames without a
 * tag.
 */
function taggedFrame(from: NetworkedPod, to: NetworkedPod): Buffer {
  const bytes = (text: string) => Buffer.from(text.replaceAll(/[^0-9a-f]/g, ''), 'hex');
  const ip = (text: string) => Buffer.from(text.split('.').map(Number));
  const udp = Buffer.from('9999 1f90 0009 0000 21'.replaceAll(' ', ''), 'hex');
  const header = Buffer.concat([bytes('4500001d 00010000 40110000'), ip(from.address), ip(to.address)]);
  let sum = 0;
  for (let at = 0; at < header.length; at += 2) sum += header.readUInt16BE(at);
  sum = (sum & 0xffff) + (sum >>> 16);
  header.writeUInt16BE(0xffff - ((sum & 0xffff) + (sum >>> 16)), 10);
  return Buffer.concat([bytes(to.mac), bytes(from.mac), bytes('8100 0000 0800'), header, udp]);
}

export function describePodNetwork({ world }: Subject): void {
  let pods: NetworkedPod[];
  beforeAll(async () => {
    pods = [await startPod(world()), await startPod(world()), await startPod(world())];
  });
  // Each test starts with pods that know no hardware addresses, and leaves their interfaces as it found them.
  beforeEach(() => {
    for (const { inside } of pods) inside('ip', 'neigh', 'flush', 'dev', 'eth0');
  });
  afterAll(async () => {
    await Promise.all(pods.map(({ peer }) => peer.stop()));
    await world().removeAll();
  });

  const reaches = (
    from: NetworkedPod,
    address: string,
    more: { readonly localAddress?: string; readonly timeout?: number } = {},
  ) =>
    from.peer.request({ protocol: 'udp', address, port: PORT, timeout: DENIED_MS, ...more }).then(
      () => true,
      () => false,
    );
  /** The last address of the range but one: pods get others. */
  const unused = ({ address }: NetworkedPod) => address.replace(/\d+$/, (last) => String((Number(last) & ~63) + 61));

  it('carry packets between pods, in both directions', async () => {
    const [a, b] = pods as [NetworkedPod, NetworkedPod];
    expect(await reaches(a, b.address, { timeout: 3_000 })).toBe(true);
    expect(await b.peer.request({ protocol: 'tcp', address: a.address, port: PORT })).toContain(b.address);
  });

  it('carry no packets with the source address of somebody else', async () => {
    const [a, b] = pods as [NetworkedPod, NetworkedPod];
    const source = unused(a);
    await withAddress(a, source, async () => expect(await reaches(a, b.address, { localAddress: source })).toBe(false));
    expect(await reaches(a, b.address, { timeout: 3_000 })).toBe(true);
  });

  it('carry no packets with another hardware address', async () => {
    const [a, b] = pods as [NetworkedPod, NetworkedPod];
    a.inside('ip', 'link', 'set', 'eth0', 'address', FOREIGN_MAC);
    try {
      expect(await reaches(a, b.address)).toBe(false);
    } finally {
      a.inside('ip', 'link', 'set', 'eth0', 'address', a.mac);
    }
    expect(await reaches(a, b.address, { timeout: 3_000 })).toBe(true);
  });

  it('carry no ARP that claims the address of another pod', async () => {
    const [a, b, c] = pods as [NetworkedPod, NetworkedPod, NetworkedPod];
    await withAddress(a, b.address, () => reaches(a, c.address, { localAddress: b.address }));
    expect(c.inside('ip', 'neigh', 'show', b.address)).not.toContain(a.mac);
    expect(await reaches(c, b.address, { timeout: 3_000 })).toBe(true);
  });

  it('have no IPv6 addresses, while the loopback address is there', () => {
    const [a] = pods as [NetworkedPod];
    expect(a.inside('ip', '-6', 'addr', 'show', 'dev', 'eth0')).toBe('');
    expect(a.inside('ip', '-6', 'addr', 'show', 'dev', 'lo')).toContain('::1/128');
  });

  it('carry no IPv6', async () => {
    const [a, b] = pods as [NetworkedPod, NetworkedPod];
    for (const [index, pod] of [a, b].entries()) {
      pod.inside('sh', '-c', 'for i in all default eth0; do echo 0 > /proc/sys/net/ipv6/conf/$i/disable_ipv6; done');
      pod.inside('ip', 'addr', 'add', `fe80::9:${index}/64`, 'dev', 'eth0', 'nodad');
    }
    try {
      expect(await reaches(a, 'fe80::9:1%eth0')).toBe(false);
    } finally {
      // Removes the addresses, too.
      for (const { inside } of [a, b]) inside('sh', '-c', 'echo 1 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6');
    }
  });

  it('carry no frames with a VLAN tag, which bridges do not show to network policies', async () => {
    const [a, b] = pods as [NetworkedPod, NetworkedPod];
    const before = received(b);
    a.inside('perl', '-e', SEND_FRAME, 'eth0', taggedFrame(a, b).toString('hex'));
    expect(await reaches(a, b.address, { timeout: 3_000 })).toBe(true);
    expect(received(b) - before).toBe(1);
  });

  it('receive packets to their own address only', async () => {
    const [a, b] = pods as [NetworkedPod, NetworkedPod];
    expect(await reaches(a, b.address, { timeout: 3_000 })).toBe(true);
    const before = received(b);
    await a.peer.send('255.255.255.255', PORT);
    // Packets of one pod stay in order.
    expect(await reaches(a, b.address, { timeout: 3_000 })).toBe(true);
    expect(received(b) - before).toBe(1);
  });
}
