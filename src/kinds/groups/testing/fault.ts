import { age, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { FaultSpec } from './fault-spec.ts';

/** Disturbs requests, so that clients can be tested. */
export const Fault = defineKind({
  kind: 'Fault',
  scope: 'Cluster',
  description:
    'Disturbs requests to the API server, as long as it exists: errors, latency, watches that end or lag. Served by clusters that were started with --faults. Requests for faults are never disturbed.',
  versions: { 'testing.kubernetes.io/v1': {} },
  fields: {
    spec: FaultSpec,
  },
  generation: true,
  columns: ({ text }) => [
    name,
    text('Verbs', 'Verbs of the requests.', ({ spec }) => spec?.verbs?.join(',') ?? '*'),
    text('Resources', 'Resources of the requests.', ({ spec }) => spec?.resources?.join(',') ?? '*'),
    text('Rate', 'Share of the requests.', ({ spec }) => String(spec?.rate ?? 1)),
    age,
  ],
});
export type Fault = ObjectOf<typeof Fault>;
