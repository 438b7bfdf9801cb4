/** The nftables rules of the pods of a node: masquerading, and the ports of pods on the node's addresses. */
import type { PortMapping } from '../../runtime/sandbox-config.ts';

export interface PublishedPort extends PortMapping {
  /** Of the pod. */
  readonly address: string;
}

/** The whole table, replaced in one transaction. */
export function ruleset(table: string, podCidr: string, bridge: string, ports: readonly PublishedPort[]): string {
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
    `    ip saddr ${podCidr} oifname "${bridge}" ct status dnat masquerade`,
    '  }',
    '}',
    '',
  ].join('\n');
}
