import type { TypeOf } from '../../../../schema/schema.ts';
import { age, type ColumnList, NONE, name, type Sparse, UNKNOWN, wide } from '../../../columns/column.ts';
import type { KubeObject } from '../../../kind.ts';
import type { NodeStatus } from './node-status.ts';

/** Fields of a node that the columns read. */
interface Node extends KubeObject {
  spec: { unschedulable?: boolean };
  status: TypeOf<typeof NodeStatus>;
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

export const nodeColumns: ColumnList<Node> = ({ text }) => [
  name,
  text('Status', 'Whether the node is ready, and whether scheduling is disabled.', statusText),
  text('Roles', 'Roles of the node, from its labels.', rolesText),
  age,
  text('Version', 'Version of the kubelet.', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
  ...[
    text('Internal-IP', 'Address of the node inside the cluster.', (node) => addressOf(node, 'InternalIP')),
    text('External-IP', 'Address of the node outside the cluster.', (node) => addressOf(node, 'ExternalIP')),
    text('OS-Image', 'Operating system of the node.', ({ status }) => status?.nodeInfo?.osImage || UNKNOWN),
    text('Kernel-Version', 'Kernel version and architecture.', kernelText),
    text(
      'Container-Runtime',
      'Container runtime and its version.',
      ({ status }) => status?.nodeInfo?.containerRuntimeVersion || UNKNOWN,
    ),
  ].map(wide),
];

function statusText({ spec, status }: Sparse<Node>): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready');
  const words = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'];
  if (spec?.unschedulable) words.push('SchedulingDisabled');
  return words.join(',');
}

function rolesText({ metadata }: Sparse<Node>): string {
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(metadata?.labels ?? {})) {
    if (label.startsWith(ROLE_PREFIX)) roles.add(label.slice(ROLE_PREFIX.length));
    else if (label === ROLE_LABEL) roles.add(value);
  }
  return [...roles].filter(Boolean).sort().join(',') || NONE;
}

function addressOf({ status }: Sparse<Node>, wanted: string): string {
  return status?.addresses?.find(({ type }) => type === wanted)?.address ?? NONE;
}

function kernelText({ status }: Sparse<Node>): string {
  const { kernelVersion, architecture } = status?.nodeInfo ?? {};
  return `${kernelVersion || UNKNOWN}${architecture ? ` (${architecture})` : ''}`;
}
