import { s } from '../../../schema/builders.ts';
import { dnsSubdomain, nameRule } from '../../../schema/names.ts';
import { age, name, type Sparse } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

const FederatedTypeCondition = s.object('FederatedTypeCondition', 'One aspect of the state of a federated type.', {
  type: s.string('Type of the condition: Served.', { zero: true }),
  status: s.string('Whether the condition holds: True, False or Unknown.', { zero: true }),
  lastTransitionTime: s.time('Time at which the status last changed.'),
  reason: s.string('Cause of the last transition, as one CamelCase word.', { omitZero: true }),
  message: s.string('Explanation of the last transition for people.', { omitZero: true }),
});

/** Federates a kind: its objects are served by the federation and propagated to the members. */
export const FederatedType = defineKind({
  kind: 'FederatedType',
  short: ['ft'],
  scope: 'Cluster',
  description:
    'Federates a kind that is not federated by itself. Its name says which: the plural and the group, such as statefulsets.apps or, in the core group, the plural alone. From then on the federation serves objects of the kind and propagates them to its members.',
  versions: { 'federation/v1beta1': {} },
  fields: {
    spec: s.struct('FederatedTypeSpec', 'What has to be known of the kind.', {
      version: s.string('Version of the kind, such as v1. Required for kinds that Quarterdeck does not have itself.', {
        omitZero: true,
      }),
      kind: s.string('Name of the kind, such as Widget. Required for kinds that Quarterdeck does not have itself.', {
        omitZero: true,
      }),
      scope: s.enum(
        ['Namespaced', 'Cluster'] as const,
        'Whether objects are in namespaces, for kinds that Quarterdeck does not have itself. Defaults to Namespaced.',
        { default: 'Namespaced' },
      ),
      replicasPath: s.string(
        'Field with a number that is divided between the clusters, such as spec.replicas. Defaults to the one that the scale subresource of the kind names, where it has one.',
        { omitZero: true },
      ),
    }),
    status: s.struct('FederatedTypeStatus', 'Observed state. Populated by the federation API server.', {
      conditions: s.listMap(
        FederatedTypeCondition,
        'State of the federated type. Served says whether the federation serves it, and why not.',
        { keys: ['type'] },
      ),
    }),
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
