import { deepEqual } from '../../../base/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../schema/field-error.ts';
import type { ObjectType, Rule } from '../../../schema/schema.ts';
import { age, NONE, name, text } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { conditionsOf } from './condition.ts';
import { LimitResponse } from './limit-response.ts';
import { mandatoryPriorityLevels } from './mandatory.ts';

const types = ['Exempt', 'Limited'];
/** Older versions kept a zero in it; in an object it means nothing. */
const ZERO_ANNOTATION = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

const notNegative =
  (words: string): Rule<number> =>
  (value) =>
    value < 0 ? invalid('', value, words) : undefined;

const shares = { rules: [notNegative('must be a non-negative integer')] };
const lendablePercent = s.int32({
  min: 0,
  max: 100,
  default: 0,
  description: 'How much of its seats, in percent, other levels may use while it does not need them.',
});

const spec = {
  type: s.string({ zero: true, description: 'Limited, or Exempt for the level that is never made to wait.' }),
  limited: s.object(
    'LimitedPriorityLevelConfiguration',
    {
      nominalConcurrencyShares: s.int32({
        ...shares,
        default: 30,
        description: "Its part of the server's seats, weighed against the shares of the other levels.",
      }),
      limitResponse: s.use(LimitResponse, { default: {}, description: 'What becomes of requests that find no seat.' }),
      lendablePercent,
      borrowingLimitPercent: s.int32({
        description: 'How much, in percent of its own seats, it may use of others; any number where absent.',
        rules: [notNegative('if specified, must be a non-negative integer')],
      }),
    },
    { description: 'For the type Limited.' },
  ),
  exempt: s.object(
    'ExemptPriorityLevelConfiguration',
    {
      nominalConcurrencyShares: s.int32({ ...shares, default: 0, description: 'What it counts for beside others.' }),
      lendablePercent,
    },
    { description: 'For the type Exempt.' },
  ),
};

const fields = {
  spec: s.object('PriorityLevelConfigurationSpec', spec, { default: {} }),
  status: s.object(
    'PriorityLevelConfigurationStatus',
    { conditions: conditionsOf('PriorityLevelConfiguration') },
    { default: {} },
  ),
};

export type PriorityLevelConfiguration = KubeObject & ObjectType<typeof fields>;

/** How a level keeps requests waiting; only one that queues does. */
const queuing = (
  [
    ['Queues', 'How many queues it has.', 'queues'],
    ['HandSize', 'How many queues a flow may use.', 'handSize'],
    ['QueueLengthLimit', 'How many requests may wait in one.', 'queueLengthLimit'],
  ] as const
).map(([title, description, field]) =>
  text(title, description, ({ spec }) => {
    const configuration = spec?.limited?.limitResponse?.queuing;
    return configuration ? (configuration[field] ?? 0) : NONE;
  }),
);

/** How many requests of a sort are served at once. */
export const PriorityLevelConfiguration = defineKind({
  group: 'flowcontrol.apiserver.k8s.io',
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  scope: 'Cluster',
  description: 'How many requests of a priority level the API server works on at once, and what becomes of the others.',
  versions: { 'flowcontrol.apiserver.k8s.io/v1': {} },
  fields,
  subresources: { status: true },
  generation: true,
  rules: [noOldAnnotation, typeAndContent, mandatoryIsKept],
  columns: [
    name,
    text('Type', 'Whether it is limited or exempt.', ({ spec }) => spec?.type ?? ''),
    text('NominalConcurrencyShares', 'Its share of the room there is.', ({ spec }) => {
      return spec?.limited ? (spec.limited.nominalConcurrencyShares ?? 0) : NONE;
    }),
    ...queuing,
    age,
  ],
});

function noOldAnnotation({ metadata }: PriorityLevelConfiguration): FieldError[] {
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

function mandatoryIsKept({ metadata, spec }: PriorityLevelConfiguration): FieldError[] {
  const { name = '' } = metadata;
  const fixed = mandatoryPriorityLevels.get(name);
  if (!fixed) return [];
  const { exempt, ...rest } = spec;
  if (deepEqual(fixed.type === 'Exempt' ? rest : spec, fixed)) return [];
  const part = fixed.type === 'Exempt' ? " except the 'spec.exempt' field" : '';
  return [invalid('spec', spec, `spec of '${name}'${part} must equal the fixed value`)];
}
