import { deepEqual } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../schema/field-error.ts';
import type { ObjectType, Rule } from '../../../schema/schema.ts';
import { age, NONE, name, text } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { conditionsOf } from './condition.ts';
import { LimitResponse } from './limit-response.ts';
import { mandatoryPriorityLevels } from './mandatory.ts';

const types = ['Exempt', 'Limited'];
/** Used by conversions of Kubernetes to keep a zero; not allowed in objects. */
const ZERO_ANNOTATION = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

const notNegative =
  (words: string): Rule<number> =>
  (value) =>
    value < 0 ? invalid('', value, words) : undefined;

const shares = { rules: [notNegative('must be a non-negative integer')] };
const lendablePercent = s.int32(
  "Percentage of the level's seats that other levels may borrow while it does not use them. From 0 to 100; defaults to 0.",
  { min: 0, max: 100, default: 0 },
);

const spec = {
  type: s.string(
    '`Limited` applies the limits in `limited`; `Exempt` never delays or rejects requests. Required; only the built-in level `exempt` is Exempt.',
    { zero: true },
  ),
  limited: s.object(
    'LimitedPriorityLevelConfiguration',
    'Limits of the priority level. Must be set if and only if type is Limited.',
    {
      nominalConcurrencyShares: s.int32(
        "Weight of the level when the server's total concurrency is divided into seats: each level gets its share of the sum over all levels. Must not be negative; defaults to 30.",
        { ...shares, default: 30 },
      ),
      limitResponse: s.use(LimitResponse, 'What happens to requests when all seats are taken.', { default: {} }),
      lendablePercent,
      borrowingLimitPercent: s.int32(
        'How many seats the level may borrow from others, as a percentage of its own seats. Must not be negative; without it there is no limit.',
        { rules: [notNegative('if specified, must be a non-negative integer')] },
      ),
    },
  ),
  exempt: s.object(
    'ExemptPriorityLevelConfiguration',
    'Seats that an exempt level lends to others. May be set only if type is Exempt.',
    {
      nominalConcurrencyShares: s.int32(
        'Weight of the level when seats are divided. It does not limit the level itself, but its unused seats can be lent. Must not be negative; defaults to 0.',
        { ...shares, default: 0 },
      ),
      lendablePercent,
    },
  ),
};

const fields = {
  spec: s.struct('PriorityLevelConfigurationSpec', 'Whether and how the requests of the level are limited.', spec),
  status: s.struct('PriorityLevelConfigurationStatus', 'Most recently observed state of the priority level.', {
    conditions: conditionsOf('PriorityLevelConfiguration'),
  }),
};

export type PriorityLevelConfiguration = KubeObject & ObjectType<typeof fields>;

/** Columns of levels that queue. */
const queuing = (
  [
    ['Queues', 'Number of queues.', 'queues'],
    ['HandSize', 'Number of queues picked for each flow.', 'handSize'],
    ['QueueLengthLimit', 'Maximum number of requests waiting in a queue.', 'queueLengthLimit'],
  ] as const
).map(([title, description, field]) =>
  text<PriorityLevelConfiguration>(title, description, ({ spec }) => {
    const configuration = spec?.limited?.limitResponse?.queuing;
    return configuration ? (configuration[field] ?? 0) : NONE;
  }),
);

/** Limits how many requests of a priority level are executed at a time. */
export const PriorityLevelConfiguration = defineKind({
  kind: 'PriorityLevelConfiguration',
  scope: 'Cluster',
  description:
    'Limits how many requests of a priority level the API server executes at a time, and says whether the others wait or are rejected. FlowSchemas assign requests to levels.',
  versions: { 'flowcontrol.apiserver.k8s.io/v1': {} },
  fields,
  resetFields: { status: ['metadata'] },
  subresources: { status: true },
  generation: true,
  rules: [noZeroAnnotation, typeAndContent, mandatorySpec],
  columns: ({ text }) => [
    name,
    text('Type', 'Limited or Exempt.', ({ spec }) => spec?.type ?? ''),
    text('NominalConcurrencyShares', 'Weight of the level when seats are divided.', ({ spec }) => {
      return spec?.limited ? (spec.limited.nominalConcurrencyShares ?? 0) : NONE;
    }),
    ...queuing,
    age,
  ],
});

function noZeroAnnotation({ metadata }: PriorityLevelConfiguration): FieldError[] {
  return metadata.annotations?.[ZERO_ANNOTATION] === undefined
    ? []
    : [forbidden('metadata.annotations', `annotation '${ZERO_ANNOTATION}' is forbidden`)];
}

function typeAndContent({ metadata, spec: { type, limited, exempt } }: PriorityLevelConfiguration): FieldError[] {
  const found: FieldError[] = [];
  if ((metadata.name === 'exempt') !== (type === 'Exempt')) {
    found.push(invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  switch (type) {
    case 'Exempt':
      if (limited) found.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
      break;
    case 'Limited':
      if (exempt) found.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
      if (!limited) found.push(required('spec.limited', 'must not be empty when type is Limited'));
      break;
    default:
      found.push(type ? notSupported('spec.type', type, types) : required('spec.type'));
  }
  return found;
}

function mandatorySpec({ metadata, spec }: PriorityLevelConfiguration): FieldError[] {
  const { name = '' } = metadata;
  const fixed = mandatoryPriorityLevels.get(name);
  if (!fixed) return [];
  const { exempt, ...rest } = spec;
  if (deepEqual(fixed.type === 'Exempt' ? rest : spec, fixed)) return [];
  const part = fixed.type === 'Exempt' ? " except the 'spec.exempt' field" : '';
  return [invalid('spec', spec, `spec of '${name}'${part} must equal the fixed value`)];
}
