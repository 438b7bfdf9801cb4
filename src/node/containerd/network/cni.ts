import { createHash } from 'node:crypto';

interface CniInput {
  /** Identifies the node on this machine. */
  readonly name: string;
  readonly podCIDRs: readonly string[];
  /** Directory for the addresses in use. */
  readonly addresses: string;
  /** True when iptables is available. Otherwise traffic leaves with the pod's address, and there are no host ports. */
  readonly hasIptables: boolean;
}

/** The name of the node's bridge. Names of network interfaces have at most 15 characters. */
export function bridgeOf(name: string): string {
  return `qd${createHash('sha256').update(name).digest('hex').slice(0, 10)}`;
}

/** The name of the file with the configuration of a node's network. */
export function cniFile(name: string): string {
  return `10-${bridgeOf(name)}.conflist`;
}

/** Returns the bridge that a file of this program configures; undefined for other files. */
export function bridgeIn(file: string): string | undefined {
  return /^10-(qd[0-9a-f]{10})\.conflist$/.exec(file)?.[1];
}

/** The CNI configuration of a node. `loopback` is not in it: containerd always adds it. */
export function cniConfiguration({ name, podCIDRs, addresses, hasIptables }: CniInput): string {
  const bridge = {
    type: 'bridge',
    bridge: bridgeOf(name),
    isGateway: true,
    ipMasq: hasIptables,
    hairpinMode: true,
    ipam: {
      type: 'host-local',
      dataDir: addresses,
      ranges: podCIDRs.map((subnet) => [{ subnet }]),
      routes: podCIDRs.map((subnet) => ({ dst: subnet.includes(':') ? '::/0' : '0.0.0.0/0' })),
    },
  };
  const portMap = { type: 'portmap', capabilities: { portMappings: true } };
  const plugins = hasIptables ? [bridge, portMap] : [bridge];
  return `${JSON.stringify({ cniVersion: '0.4.0', name: bridgeOf(name), plugins }, undefined, 2)}\n`;
}
