import { deepEqual } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, NONE, name, type Sparse } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { conditionsOf } from './condition.ts';
import { PolicyRulesWithSubjects } from './flow-rules.ts';
import { mandatoryFlowSchemas } from './mandatory.ts';

const MAX_PRECEDENCE = 10000;
const methods = ['ByNamespace', 'ByUser'];

const PriorityLevelConfigurationReference = s.object(
  'PriorityLevelConfigurationReference',
  'The priority level that matching requests are assigned to. If it does not exist, the FlowSchema is ignored.',
  { name: s.string('Name of the PriorityLevelConfiguration. Required.', { zero: true }) },
  { zero: true, rules: [namesLevel] },
);

const FlowDistinguisherMethod = s.object(
  'FlowDistinguisherMethod',
  'How matching requests are divided into flows. Without it all of them form one flow.',
  {
    type: s.string('`ByUser` makes each user a flow, `ByNamespace` each namespace. Required.', { zero: true }),
  },
  { rules: [knownMethod] },
);

const fields = {
  spec: s.struct('FlowSchemaSpec', 'Which requests the schema applies to, and what it does with them.', {
    matchingPrecedence: s.int32(
      'Order in which FlowSchemas are compared with a request: the one with the lowest number that matches is chosen. From 1 to 10000; defaults to 1000. 1 is reserved for the schema `exempt`.',
      { omitZero: true, default: 1000, rules: [precedence] },
    ),
    distinguisherMethod: FlowDistinguisherMethod,
    priorityLevelConfiguration: PriorityLevelConfigurationReference,
    rules: s.list(
      PolicyRulesWithSubjects,
      'Which requests match: those that match at least one of these rules. Without rules, none.',
    ),
  }),
  status: s.struct('FlowSchemaStatus', 'Most recently observed state of the FlowSchema.', {
    conditions: conditionsOf('FlowSchema'),
  }),
};

export type FlowSchema = KubeObject & ObjectType<typeof fields>;

/** Assigns requests to priority levels. */
export const FlowSchema = defineKind({
  kind: 'FlowSchema',
  scope: 'Cluster',
  description:
    'Assigns requests to the API server to a priority level, by who sends them and what they ask for, and divides them into flows that are treated fairly among each other.',
  versions: { 'flowcontrol.apiserver.k8s.io/v1': {} },
  fields,
  resetFields: { status: ['metadata'] },
  subresources: { status: true },
  generation: true,
  rules: [mandatorySpec],
  columns: ({ text }) => [
    name,
    text(
      'PriorityLevel',
      'Priority level of matching requests.',
      ({ spec }) => spec?.priorityLevelConfiguration?.name ?? '',
    ),
    text(
      'MatchingPrecedence',
      'Order of matching; the lowest number that matches is chosen.',
      ({ spec }) => spec?.matchingPrecedence ?? 0,
    ),
    text('DistinguisherMethod', 'How matching requests are divided into flows.', ({ spec }) => {
      return spec?.distinguisherMethod?.type ?? NONE;
    }),
    age,
    text('MissingPL', 'Whether the priority level is missing.', ({ status }) => {
      return status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?';
    }),
  ],
  rows: { order: byPrecedence },
});

function precedence(value: number, { root }: RuleContext<number, KubeObject>): FieldError | undefined {
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

function mandatorySpec({ metadata, spec }: FlowSchema): FieldError[] {
  const { name = '' } = metadata;
  const fixed = mandatoryFlowSchemas.get(name);
  return fixed && !deepEqual(spec, fixed)
    ? [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)]
    : [];
}

function byPrecedence(a: Sparse<FlowSchema>, b: Sparse<FlowSchema>): number {
  const order = (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0);
  return order || ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1);
}
