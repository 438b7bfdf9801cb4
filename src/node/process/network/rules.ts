/** The nftables rules of the pods of a node: masquerading, and the ports of pods on the node's addresses. */
import type { PortMapping } from '../../runtime/sandbox-config.ts';

export interface PublishedPort extends PortMapping {
  /** Of the pod. */
  readonly address: string;
}

export interface PodRules {
  readonly table: string;
  readonly podCidr: string;
  readonly bridge: string;
  readonly ports: readonly PublishedPort[];
  /** Whether packets between pods of the bridge pass nftables, so that their replies are translated back. */
  readonly filtersBridge: boolean;
}

/** The whole table, replaced in one transaction. */
export function ruleset({ table, podCidr, bridge, ports, filtersBridge }: PodRules): string {
  const addresses = [...new Set(ports.map(({ address }) => address))];
  const toItself = addresses.map((address) => `ip saddr ${address} ip daddr ${address} ct status dnat masquerade`);
  const published = ports.map(
    ({ protocol, hostPort, hostIP, address, containerPort }) =>
      `${hostIP && hostIP !== '0.0.0.0' ? `ip daddr ${hostIP} ` : ''}${protocol.toLowerCase()} dport ${hostPort} dnat to ${address}:${containerPort}`,
  );
  return [
    `table ip ${table} {}`,
    `delete table ip ${table}`,
    `table ip ${table} {`,
    '  chain published {',
    ...published.map((rule) => `    ${rule}`),
    '  }',
    '  chain prerouting {',
    '    type nat hook prerouting priority dstnat; policy accept;',
    '    fib daddr type local jump published',
    '  }',
    '  chain output {',
    '    type nat hook output priority -100; policy accept;',
    '    fib daddr type local jump published',
    '  }',
    '  chain postrouting {',
    '    type nat hook postrouting priority srcnat; policy accept;',
    `    ip saddr ${podCidr} oifname != "${bridge}" masquerade`,
    // From the node to one of its own ports, and from a pod to itself through one: the answer must come back here.
    `    ip saddr 127.0.0.0/8 oifname "${bridge}" masquerade`,
    ...(filtersBridge ? toItself : [`ip saddr ${podCidr} oifname "${bridge}" ct status dnat masquerade`]).map(
      (rule) => `    ${rule}`,
    ),
    '  }',
    '}',
    '',
  ].join('\n');
}
