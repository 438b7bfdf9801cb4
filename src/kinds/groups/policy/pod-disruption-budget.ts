import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { pathSegmentName } from '../../../schema/names.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { age, integer, name, text } from '../../columns/column.ts';
import { deprecation } from '../../deprecation.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { Condition, completeConditions } from '../../shapes/meta/condition.ts';
import { countOrPercent, notMoreThanAll } from '../../shapes/meta/int-or-percent.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { emptySelectsAll, emptySelectsNone, withoutMark } from './empty-selector.ts';

const OLDER = 'policy/v1beta1';

const amount = (description: string) => s.intOrString({ rules: [countOrPercent, notMoreThanAll], description });

const spec = {
  minAvailable: amount(
    'How many pods must stay, as a number or a percentage of those selected. Not with maxUnavailable.',
  ),
  selector: s.use(LabelSelector, {
    replace: true,
    description: 'The pods it is about; an empty selector is about all of the namespace, none at all about no pod.',
  }),
  maxUnavailable: amount('How many pods may be missing, as a number or a percentage of those selected.'),
  unhealthyPodEvictionPolicy: s.enum(['AlwaysAllow', 'IfHealthyBudget'], {
    description:
      'When pods that run and are not ready may be evicted: always, or (where nothing is said) when enough others are.',
  }),
};

/** Never negative, but nobody looks in the older version. */
const count = (description: string) => s.int32({ default: 0, rules: [notNegative], description });

const status = {
  observedGeneration: s.int64({ omitZero: true, description: 'The generation that the rest speaks of.' }),
  disruptedPods: s.map(s.time(), { description: 'Pods that are to be evicted and may not have gone yet, with when.' }),
  disruptionsAllowed: count('How many pods may be evicted now.'),
  currentHealthy: count('How many pods are ready.'),
  desiredHealthy: count('How many pods must be ready.'),
  expectedPods: count('How many pods are counted.'),
  conditions: s.listMap(Condition, {
    keys: ['type'],
    rules: [completeConditions],
    description: 'What holds for the budget: DisruptionAllowed.',
  }),
};

/** How many of some pods may be away at once because somebody wants it. */
export const PodDisruptionBudget = defineKind({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  short: ['pdb'],
  scope: 'Namespaced',
  description: 'How many of some pods may be taken away at once on purpose, as when a node is drained.',
  versions: {
    'policy/v1': {},
    [OLDER]: {
      fields: {
        spec: s.object(
          'PodDisruptionBudgetSpec',
          {
            ...spec,
            selector: s.use(LabelSelector, {
              description: 'The pods it is about; an empty selector is about none of them.',
            }),
          },
          { default: {}, description: 'What is wanted.' },
        ),
      },
      toHub: emptySelectsAll,
      fromHub: emptySelectsNone,
      deprecated: deprecation('policy/v1beta1', 'PodDisruptionBudget'),
    },
  },
  fields: {
    spec: s.object('PodDisruptionBudgetSpec', spec, {
      default: {},
      rules: [oneAmount],
      description: 'What is wanted.',
    }),
    status: s.object('PodDisruptionBudgetStatus', status, { default: {}, description: 'What there is.' }),
  },
  requiresVersion: true,
  name: pathSegmentName,
  subresources: { status: true },
  generation: true,
  initialStatus: () => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
  onCreate: withoutMark,
  onUpdate: withoutMark,
  columns: [
    name,
    text('Min Available', 'How many pods must stay.', ({ spec }) => String(spec?.minAvailable ?? 'N/A')),
    text('Max Unavailable', 'How many pods may be missing.', ({ spec }) => String(spec?.maxUnavailable ?? 'N/A')),
    integer('Allowed Disruptions', 'How many pods may be taken now.', ({ status }) => status?.disruptionsAllowed),
    age,
  ],
});
export type PodDisruptionBudget = ObjectOf<typeof PodDisruptionBudget>;

function notNegative(value: number, { apiVersion }: RuleContext): FieldError | undefined {
  return value < 0 && apiVersion !== OLDER ? invalid('', value, 'must be greater than or equal to 0') : undefined;
}

function oneAmount(wanted: any): FieldError | undefined {
  const { minAvailable, maxUnavailable } = wanted;
  return minAvailable !== undefined && maxUnavailable !== undefined
    ? invalid('', wanted, 'minAvailable and maxUnavailable cannot be both set')
    : undefined;
}
