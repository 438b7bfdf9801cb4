/** Builds the Node object of a simulated node. */

import type { Draft } from '../../../api/object-types.ts';
import type { Node } from '../../../kinds/groups/core/node/node.ts';
import { isNodeOwnLabel } from '../../../kinds/groups/core/node/own-labels.ts';
import { type NodeCondition, nodeConditions, nodeLabels } from '../../agent/node/node-object.ts';
import { pressuresOf } from '../../machine/pressure/conditions.ts';
import { RUNTIME } from '../lifecycle/ids.ts';
import { matchesAny } from '../rules/pattern.ts';
import type { NodeRule } from '../rules/rules.ts';

const CAPACITY = {
  cpu: '32',
  memory: '256Gi',
  'ephemeral-storage': '1Ti',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
};
const MAX_PODS = 110;
const KUBELET_PORT = 10_250;

export interface Machine {
  readonly name: string;
  readonly address: string;
  readonly podRange: string;
  /** How many pods it has addresses for. */
  readonly pods: number;
  /** The Kubernetes version to report. */
  readonly version: string;
}

export interface Registration {
  /** The Node as it registers itself. */
  readonly own: Draft<Node>;
  /** Labels that a node may not set on itself. */
  readonly restrictedLabels: Readonly<Record<string, string>>;
}

/** When several rules set the same field, the first one wins. */
export function registrationOf(machine: Machine, rules: readonly NodeRule[], now: number): Registration {
  const { name, podRange } = machine;
  const ownRules = rulesFor(name, rules);
  const merged = <T>(pick: (rule: NodeRule) => Readonly<Record<string, T>> | undefined) =>
    Object.assign({}, ...ownRules.map(pick).reverse()) as Record<string, T>;
  const taints = ownRules.find((rule) => rule.taints)?.taints;
  const labels = Object.entries(merged((rule) => rule.labels));
  const own = {
    metadata: {
      name,
      labels: nodeLabels({ name, labels: Object.fromEntries(labels.filter(([key]) => isNodeOwnLabel(key))) }, 'amd64'),
      annotations: { 'node.alpha.kubernetes.io/ttl': '0', ...merged((rule) => rule.annotations) },
    },
    spec: { podCIDR: podRange, podCIDRs: [podRange], taints },
    status: statusOf(
      machine,
      merged((rule) => rule.capacity),
      now,
    ),
  } as Draft<Node>;
  return { own, restrictedLabels: Object.fromEntries(labels.filter(([key]) => !isNodeOwnLabel(key))) };
}

export function rulesFor(name: string, rules: readonly NodeRule[]): readonly NodeRule[] {
  return rules.filter(({ names }) => !names || matchesAny(names, name));
}

function statusOf(machine: Machine, capacity: Readonly<Record<string, string>>, now: number) {
  const { name, address, version } = machine;
  const all = { ...CAPACITY, pods: String(Math.min(MAX_PODS, machine.pods)), ...capacity };
  const id = Buffer.from(name).toString('hex').padStart(32, '0').slice(-32);
  return {
    capacity: all,
    allocatable: all,
    conditions: healthyConditions(now),
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: KUBELET_PORT } },
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

/** Returns the conditions of a healthy node. */
export function healthyConditions(now: number): readonly NodeCondition[] {
  const runtime = { isReady: true, isNetworkReady: true };
  return nodeConditions({ runtime, pressures: pressuresOf({}, now) }, [], now);
}
