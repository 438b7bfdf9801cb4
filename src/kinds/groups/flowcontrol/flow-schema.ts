import { deepEqual } from '../../../base/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, NONE, name, text } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { conditionsOf } from './condition.ts';
import { PolicyRulesWithSubjects } from './flow-rules.ts';
import { mandatoryFlowSchemas } from './mandatory.ts';

const MAX_PRECEDENCE = 10000;
const methods = ['ByNamespace', 'ByUser'];

const PriorityLevelConfigurationReference = s.object(
  'PriorityLevelConfigurationReference',
  { name: s.string({ zero: true }) },
  { zero: true, description: 'The level that these requests share.', rules: [namesLevel] },
);

const FlowDistinguisherMethod = s.object(
  'FlowDistinguisherMethod',
  { type: s.string({ zero: true, description: 'ByUser or ByNamespace.' }) },
  {
    description: 'What tells one flow of requests from another, so that none keeps the others waiting.',
    rules: [knownMethod],
  },
);

const fields = {
  spec: s.object(
    'FlowSchemaSpec',
    {
      matchingPrecedence: s.int32({
        omitZero: true,
        default: 1000,
        description: 'Of several schemas that a request belongs to, the one with the lowest number counts.',
        rules: [precedence],
      }),
      distinguisherMethod: FlowDistinguisherMethod,
      priorityLevelConfiguration: PriorityLevelConfigurationReference,
      rules: s.list(PolicyRulesWithSubjects, { description: 'Requests that one of them describes belong here.' }),
    },
    { default: {} },
  ),
  status: s.object('FlowSchemaStatus', { conditions: conditionsOf('FlowSchema') }, { default: {} }),
};

export type FlowSchema = KubeObject & ObjectType<typeof fields>;

/** Sorts requests into priority levels. */
export const FlowSchema = defineKind({
  group: 'flowcontrol.apiserver.k8s.io',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  scope: 'Cluster',
  description: 'Sorts requests to the API server by who sends them and what they ask for, into priority levels.',
  versions: { 'flowcontrol.apiserver.k8s.io/v1': {} },
  fields,
  subresources: { status: true },
  generation: true,
  rules: [mandatoryIsKept],
  columns: [
    name,
    text('PriorityLevel', 'Where its requests queue.', ({ spec }) => spec?.priorityLevelConfiguration?.name ?? ''),
    text('MatchingPrecedence', 'The lowest that matches decides.', ({ spec }) => spec?.matchingPrecedence ?? 0),
    text('DistinguisherMethod', 'What divides its requests into flows.', ({ spec }) => {
      return spec?.distinguisherMethod?.type ?? NONE;
    }),
    age,
    text('MissingPL', 'Whether its priority level does not exist.', ({ status }) => {
      return status?.conditions?.find(({ type }: any) => type === 'Dangling')?.status ?? '?';
    }),
  ],
  rows: { order: byPrecedence },
});

function precedence(value: number, { root }: RuleContext): FieldError | undefined {
  if (value <= 0) return invalid('', value, 'must be a positive value');
  if (value > MAX_PRECEDENCE) return invalid('', value, `must not be greater than ${MAX_PRECEDENCE}`);
  return value === 1 && root.metadata.name !== 'exempt'
    ? invalid('', value, "only the schema named 'exempt' may have matchingPrecedence 1")
    : undefined;
}

function knownMethod({ type }: { type: string }): FieldError | undefined {
  return methods.includes(type) ? undefined : notSupported('type', { Type: type }, methods);
}

function namesLevel({ name }: { name: string }): FieldError[] {
  if (!name) return [required('name', 'must reference a priority level')];
  return dnsSubdomain(name).map((complaint) => invalid('name', name, complaint));
}

function mandatoryIsKept({ metadata, spec }: FlowSchema): FieldError[] {
  const { name = '' } = metadata;
  const fixed = mandatoryFlowSchemas.get(name);
  return fixed && !deepEqual(spec, fixed)
    ? [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)]
    : [];
}

function byPrecedence(a: any, b: any): number {
  return a.spec.matchingPrecedence - b.spec.matchingPrecedence || (a.metadata.name < b.metadata.name ? -1 : 1);
}
