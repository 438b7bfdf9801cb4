import { s } from '../../../schema/builders.ts';
import { dnsSubdomain, nameRule } from '../../../schema/names.ts';
import { age, name, type Sparse } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

const FederatedTypeCondition = s.object(
  'FederatedTypeCondition',
  {
    type: s.string({ zero: true, description: 'Type of the condition: Served.' }),
    status: s.string({ zero: true, description: 'Whether the condition holds: True, False or Unknown.' }),
    lastTransitionTime: s.time({ description: 'Time at which the status last changed.' }),
    reason: s.string({ omitZero: true, description: 'Cause of the last transition, as one CamelCase word.' }),
    message: s.string({ omitZero: true, description: 'Explanation of the last transition for people.' }),
  },
  { description: 'One aspect of the state of a federated type.' },
);

/** Federates a kind: its objects are served by the federation and propagated to the members. */
export const FederatedType = defineKind({
  group: 'federation',
  kind: 'FederatedType',
  plural: 'federatedtypes',
  short: ['ft'],
  scope: 'Cluster',
  description:
    'Federates a kind that is not federated by itself. Its name says which: the plural and the group, such as statefulsets.apps or, in the core group, the plural alone. From then on the federation serves objects of the kind and propagates them to its members.',
  versions: { 'federation/v1beta1': {} },
  fields: {
    spec: s.object(
      'FederatedTypeSpec',
      {
        version: s.string({
          omitZero: true,
          description: 'Version of the kind, such as v1. Required for kinds that Quarterdeck does not have itself.',
        }),
        kind: s.string({
          omitZero: true,
          description: 'Name of the kind, such as Widget. Required for kinds that Quarterdeck does not have itself.',
        }),
        scope: s.enum(['Namespaced', 'Cluster'] as const, {
          default: 'Namespaced',
          description:
            'Whether objects are in namespaces, for kinds that Quarterdeck does not have itself. Defaults to Namespaced.',
        }),
        replicasPath: s.string({
          omitZero: true,
          description:
            'Field with a number that is divided between the clusters, such as spec.replicas. Defaults to the one that the scale subresource of the kind names, where it has one.',
        }),
      },
      { default: {}, description: 'What has to be known of the kind.' },
    ),
    status: s.object(
      'FederatedTypeStatus',
      {
        conditions: s.listMap(FederatedTypeCondition, {
          keys: ['type'],
          description: 'State of the federated type. Served says whether the federation serves it, and why not.',
        }),
      },
      { default: {}, description: 'Observed state. Populated by the federation API server.' },
    ),
  },
  name: nameRule(dnsSubdomain),
  subresources: { status: true },
  generation: true,
  columns: ({ text }) => [
    name,
    text('Served', 'Whether the federation serves the kind.', served),
    text('Reason', 'Why the kind is served or not.', ({ status }) => status?.conditions?.[0]?.message ?? ''),
    age,
  ],
});
export type FederatedType = ObjectOf<typeof FederatedType>;

interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] };
}

function served({ status }: Sparse<Conditioned>): string {
  return status?.conditions?.find((condition) => condition?.type === 'Served')?.status ?? 'Unknown';
}
