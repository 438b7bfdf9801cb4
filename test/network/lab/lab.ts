/**
 * A node with pods and a client outside, as network namespaces of this machine: a bridge for the pods, as the runtimes make it, and
 * a link to the client. It needs root, and `ip`.
 */
import { execFileSync } from 'node:child_process';
import { Peer } from './peer.ts';

export interface Lab {
  /** Runs a command in the namespace of the node. */
  readonly enter: readonly string[];
  readonly nodeAddress: string;
  readonly podRanges: readonly string[];
  readonly node: Peer;
  readonly outside: Peer;
  readonly pods: readonly { readonly peer: Peer; readonly address: string; readonly address6: string }[];
  stop(): Promise<void>;
}

let count = 0;

/** `folder`: where the program of the peers is, for a caller that is bundled. */
export async function openLab(pods: number, folder?: string): Promise<Lab> {
  const prefix = `qdlab${process.pid}x${count++}`;
  const space = (name: string) => `${prefix}${name}`;
  const ip = (text: string) => execFileSync('ip', ['-batch', '-'], { input: `${text.trim()}\n` });
  const inside = (name: string, text: string) =>
    execFileSync('ip', ['-n', space(name), '-batch', '-'], { input: `${text.trim()}\n` });
  const names = ['node', 'out', ...Array.from({ length: pods }, (_, index) => `p${index}`)];
  for (const name of names) ip(`netns add ${space(name)}`);
  for (const name of names) inside(name, 'link set lo up');
  inside(
    'node',
    `
    link add cni0 type bridge
    addr add 10.244.7.1/24 dev cni0
    addr add fd77:7::1/64 dev cni0 nodad
    link set cni0 up
    link add up0 type veth peer name eth0 netns ${space('out')}
    addr add 192.168.77.1/24 dev up0
    addr add fd77:1::1/64 dev up0 nodad
    link set up0 up
    route add default via 192.168.77.2
    route add default via fd77:1::2
  `,
  );
  inside(
    'out',
    `
    addr add 192.168.77.2/24 dev eth0
    addr add fd77:1::2/64 dev eth0 nodad
    link set eth0 up
    route add default via 192.168.77.1
    route add default via fd77:1::1
  `,
  );
  const addresses = Array.from({ length: pods }, (_, index) => ({
    address: `10.244.7.${index + 2}`,
    address6: `fd77:7::${index + 2}`,
  }));
  addresses.forEach(({ address, address6 }, index) => {
    inside(
      'node',
      `
      link add v${index} type veth peer name eth0 netns ${space(`p${index}`)}
      link set v${index} master cni0
      link set v${index} type bridge_slave hairpin on
      link set v${index} up
    `,
    );
    inside(
      `p${index}`,
      `
      addr add ${address}/24 dev eth0
      addr add ${address6}/64 dev eth0 nodad
      link set eth0 up
      route add default via 10.244.7.1
      route add default via fd77:7::1
    `,
    );
  });
  const enterOf = (name: string) => ['/usr/bin/nsenter', `--net=/run/netns/${space(name)}`];
  const peer = (name: string, title: string) => new Peer(title, enterOf(name), folder);
  const node = peer('node', 'node');
  const outside = peer('out', 'outside');
  const peers = addresses.map((each, index) => ({ ...each, peer: peer(`p${index}`, `pod-${index}`) }));
  return {
    ...{ node, outside, pods: peers, enter: enterOf('node') },
    nodeAddress: '192.168.77.1',
    podRanges: ['10.244.7.0/24', 'fd77:7::/64'],
    async stop() {
      await Promise.all([node, outside, ...peers.map((each) => each.peer)].map((each) => each.stop()));
      for (const name of names) ip(`netns del ${space(name)}`);
    },
  };
}
