import { s } from '../../../schema/builders.ts';
import { dns1035Label, nameRule } from '../../../schema/names.ts';
import { age, name, type Sparse } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

const ServerAddress = s.object(
  'ServerAddressByClientCIDR',
  'Address of an API server, as seen by some of its clients.',
  {
    clientCIDR: s.string('Addresses of clients that should use this server, as a CIDR range.', { zero: true }),
    serverAddress: s.string('Address of the API server for these clients: a URL, or a host with an optional port.', {
      zero: true,
    }),
  },
);

const SecretRef = s.object('LocalObjectReference', 'Refers to a Secret by name.', {
  name: s.string('Name of the Secret.', { omitZero: true }),
});

const ClusterCondition = s.object('ClusterCondition', 'One aspect of the health of a member cluster.', {
  type: s.string('Type of the condition: Ready or Offline.', { zero: true }),
  status: s.string('Whether the condition holds: True, False or Unknown.', { zero: true }),
  lastProbeTime: s.time('Time of the last health check.'),
  lastTransitionTime: s.time('Time at which the status last changed.'),
  reason: s.string('Cause of the last transition, as one CamelCase word.', { omitZero: true }),
  message: s.string('Explanation of the last transition for people.', { omitZero: true }),
});

/** A member cluster of a federation. */
export const Cluster = defineKind({
  kind: 'Cluster',
  scope: 'Cluster',
  description:
    'A member cluster of the federation: where its API server is, and the Secret on the host cluster that holds its credentials. Its name is the identity of the cluster.',
  versions: { 'federation/v1beta1': {} },
  fields: {
    spec: s.struct('ClusterSpec', 'How the cluster is reached.', {
      serverAddressByClientCIDRs: s.list(
        ServerAddress,
        'Addresses of the API server of the cluster. The federation uses the one whose clientCIDR contains its own address, which 0.0.0.0/0 always does.',
        { zero: true },
      ),
      secretRef: s.use(
        SecretRef,
        'Secret with the kubeconfig of the cluster, in the namespace of the federation control plane on the host cluster. Without it, the cluster is used without credentials.',
      ),
    }),
    status: s.struct('ClusterStatus', 'Observed state of the cluster. Populated by the federation.', {
      conditions: s.listMap(ClusterCondition, 'Health of the cluster, as the federation sees it.', {
        keys: ['type'],
      }),
      zones: s.list(s.string(), 'Availability zones in which the cluster has nodes.'),
      region: s.string('Region in which the cluster has nodes.', { omitZero: true }),
    }),
  },
  name: nameRule(dns1035Label),
  subresources: { status: true },
  generation: true,
  columns: ({ text }) => [
    name,
    text('Status', 'Whether the cluster is ready.', readiness),
    text('Region', 'Region of the cluster.', ({ status }) => status?.region ?? ''),
    text('Zones', 'Zones of the cluster.', ({ status }) => status?.zones?.join(',') ?? ''),
    age,
  ],
});
export type Cluster = ObjectOf<typeof Cluster>;

interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] };
}

function readiness({ status }: Sparse<Conditioned>): string {
  const ready = status?.conditions?.find((condition) => condition?.type === 'Ready');
  if (ready === undefined) return 'Unknown';
  return ready.status === 'True' ? 'Ready' : ready.status === 'False' ? 'NotReady' : 'Unknown';
}
