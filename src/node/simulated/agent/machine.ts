/** What a simulated node says of itself. */

import { timestamp } from '../../../base/timestamp.ts';
import type { Draft } from '../../../client/object-types.ts';
import type { Node } from '../../../kinds/groups/core/node/node.ts';
import { isNodeOwnLabel } from '../../../kinds/groups/core/node/own-labels.ts';
import { RUNTIME } from '../lifecycle/ids.ts';
import { fitsAny } from '../rules/pattern.ts';
import type { NodeRule } from '../rules/rules.ts';

const CAPACITY = {
  cpu: '32',
  memory: '256Gi',
  'ephemeral-storage': '1Ti',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
};
const USUAL_PODS = 110;
const AGENT_PORT = 10_250;

export interface Machine {
  readonly name: string;
  readonly address: string;
  readonly podRange: string;
  /** How many pods it has addresses for. */
  readonly pods: number;
  /** As `/version` has it. */
  readonly version: string;
}

export interface Registration {
  /** The node as it registers. */
  readonly own: Draft<Node>;
  /** Labels that it may not put on itself. */
  readonly others: Readonly<Record<string, string>>;
}

/** Of several rules that set the same, the first counts. */
export function nodeOf(machine: Machine, rules: readonly NodeRule[], now: number): Registration {
  const { name, podRange } = machine;
  const mine = rulesFor(name, rules);
  const merged = <T>(pick: (rule: NodeRule) => Readonly<Record<string, T>> | undefined) =>
    Object.assign({}, ...mine.map(pick).reverse()) as Record<string, T>;
  const taints = mine.find((rule) => rule.taints)?.taints;
  const labels = Object.entries(merged((rule) => rule.labels));
  const own = {
    metadata: {
      name,
      labels: {
        // What older manifests select by.
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...Object.fromEntries(labels.filter(([key]) => isNodeOwnLabel(key))),
      },
      annotations: { 'node.alpha.kubernetes.io/ttl': '0', ...merged((rule) => rule.annotations) },
    },
    spec: { podCIDR: podRange, podCIDRs: [podRange], ...(taints ? { taints } : {}) },
    status: statusOf(
      machine,
      merged((rule) => rule.capacity),
      now,
    ),
  } as Draft<Node>;
  return { own, others: Object.fromEntries(labels.filter(([key]) => !isNodeOwnLabel(key))) };
}

export function rulesFor(name: string, rules: readonly NodeRule[]): readonly NodeRule[] {
  return rules.filter(({ names }) => !names || fitsAny(names, name));
}

function statusOf(machine: Machine, capacity: Readonly<Record<string, string>>, now: number) {
  const { name, address, version } = machine;
  const all = { ...CAPACITY, pods: String(Math.min(USUAL_PODS, machine.pods)), ...capacity };
  const id = Buffer.from(name).toString('hex').padStart(32, '0').slice(-32);
  return {
    capacity: all,
    allocatable: all,
    conditions: nodeConditions(now),
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: AGENT_PORT } },
    nodeInfo: {
      machineID: id,
      systemUUID: uuid(id),
      bootID: uuid([...id].reverse().join('')),
      kernelVersion: 'simulated',
      osImage: 'Quarterdeck simulated node',
      containerRuntimeVersion: `${RUNTIME}://${version.replace(/^v/, '').replace(/\+.*/, '')}`,
      kubeletVersion: version,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  };
}

const uuid = (digits: string) =>
  [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-');

/** All is well. */
export function nodeConditions(now: number) {
  const time = timestamp(now);
  const times = { lastHeartbeatTime: time, lastTransitionTime: time };
  const well = (type: string, reason: string, message: string) => ({
    type,
    status: 'False',
    ...times,
    reason,
    message,
  });
  return [
    well('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    well('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    well('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    { type: 'Ready', status: 'True', ...times, reason: 'KubeletReady', message: 'kubelet is posting ready status' },
  ];
}
