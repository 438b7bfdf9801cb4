import { s } from '../../../schema/builders.ts';
import { dns1035Label, nameRule } from '../../../schema/names.ts';
import { age, name, type Sparse } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

const ServerAddress = s.object(
  'ServerAddressByClientCIDR',
  {
    clientCIDR: s.string({
      zero: true,
      description: 'Addresses of clients that should use this server, as a CIDR range.',
    }),
    serverAddress: s.string({
      zero: true,
      description: 'Address of the API server for these clients: a URL, or a host with an optional port.',
    }),
  },
  { description: 'Address of an API server, as seen by some of its clients.' },
);

const SecretRef = s.object(
  'LocalObjectReference',
  { name: s.string({ omitZero: true, description: 'Name of the Secret.' }) },
  { description: 'Refers to a Secret by name.' },
);

const ClusterCondition = s.object(
  'ClusterCondition',
  {
    type: s.string({ zero: true, description: 'Type of the condition: Ready or Offline.' }),
    status: s.string({ zero: true, description: 'Whether the condition holds: True, False or Unknown.' }),
    lastProbeTime: s.time({ description: 'Time of the last health check.' }),
    lastTransitionTime: s.time({ description: 'Time at which the status last changed.' }),
    reason: s.string({ omitZero: true, description: 'Cause of the last transition, as one CamelCase word.' }),
    message: s.string({ omitZero: true, description: 'Explanation of the last transition for people.' }),
  },
  { description: 'One aspect of the health of a member cluster.' },
);

/** A member cluster of a federation. */
export const Cluster = defineKind({
  group: 'federation',
  kind: 'Cluster',
  plural: 'clusters',
  scope: 'Cluster',
  description:
    'A member cluster of the federation: where its API server is, and the Secret on the host cluster that holds its credentials. Its name is the identity of the cluster.',
  versions: { 'federation/v1beta1': {} },
  fields: {
    spec: s.object(
      'ClusterSpec',
      {
        serverAddressByClientCIDRs: s.list(ServerAddress, {
          zero: true,
          description:
            'Addresses of the API server of the cluster. The federation uses the one whose clientCIDR contains its own address, which 0.0.0.0/0 always does.',
        }),
        secretRef: s.use(SecretRef, {
          description:
            'Secret with the kubeconfig of the cluster, in the namespace of the federation control plane on the host cluster. Without it, the cluster is used without credentials.',
        }),
      },
      { default: {}, description: 'How the cluster is reached.' },
    ),
    status: s.object(
      'ClusterStatus',
      {
        conditions: s.listMap(ClusterCondition, {
          keys: ['type'],
          description: 'Health of the cluster, as the federation sees it.',
        }),
        zones: s.list(s.string(), { description: 'Availability zones in which the cluster has nodes.' }),
        region: s.string({ omitZero: true, description: 'Region in which the cluster has nodes.' }),
      },
      { default: {}, description: 'Observed state of the cluster. Populated by the federation.' },
    ),
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
