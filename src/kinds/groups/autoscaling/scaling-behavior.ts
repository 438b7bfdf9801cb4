/** Limits how fast an autoscaler may add and remove pods. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported } from '../../../schema/field-error.ts';
import type { ObjectType, Rule, TypeOf } from '../../../schema/schema.ts';

const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;

const policy = {
  type: s.string('Unit of value: `Pods` for a number of pods, `Percent` for a percentage of the current replicas.', {
    zero: true,
  }),
  value: s.int32('How much may change within periodSeconds, in pods or percent as type says. Must be greater than 0.', {
    zero: true,
  }),
  periodSeconds: s.int32('Length of the period the limit applies to, in seconds. From 1 to 1800.', { zero: true }),
};
type HPAScalingPolicy = ObjectType<typeof policy>;

const HPAScalingPolicy = s.object(
  'HPAScalingPolicy',
  'A limit on how much the number of pods may change within a period.',
  policy,
  { rules: [policyRule] },
);

const window: Rule<number> = (seconds) => {
  if (seconds < 0) return invalid('', seconds, 'must be greater than or equal to zero');
  return seconds > MAX_WINDOW_SECONDS
    ? invalid('', seconds, `must be less than or equal to ${MAX_WINDOW_SECONDS}`)
    : undefined;
};

const notNegative: Rule<string> = (amount) =>
  amount.startsWith('-') ? invalid('', amount, 'must be greater than or equal to 0') : undefined;

/** Defaults for one direction. */
interface ScalingDefaults {
  readonly stabilizationWindowSeconds?: number;
  readonly policies: HPAScalingPolicy[];
}

const rulesOf = ({ stabilizationWindowSeconds, policies }: ScalingDefaults) =>
  s.struct('HPAScalingRules', 'How fast the number of pods may change in one direction.', {
    stabilizationWindowSeconds: s.int32(
      'How far back, in seconds, the autoscaler looks at its own recommendations, to avoid scaling back and forth; it acts on the safest of them. From 0 to 3600; defaults to 0 when scaling up and to 300 when scaling down.',
      { default: () => stabilizationWindowSeconds, rules: [window] },
    ),
    selectPolicy: s.enum(
      ['Disabled', 'Max', 'Min'],
      'Which policy applies when there are several: `Max`, the one that allows the largest change; `Min`, the one that allows the smallest; or `Disabled`, which forbids scaling in this direction. Defaults to Max.',
      { default: 'Max' },
    ),
    policies: s.list(
      HPAScalingPolicy,
      'Limits on the speed of the change. By default up to 4 pods or 100%, whichever is more, may be added every 15 seconds, and any number removed.',
      { default: policies },
    ),
    tolerance: s.quantity(
      'How far the ratio between the current metric and its target may be from 1 before anything is scaled, as a fraction: 0.05 is 5%. Must not be negative; defaults to the cluster-wide tolerance, 10%.',
      { rules: [notNegative] },
    ),
  });

export const HorizontalPodAutoscalerBehavior = s.object(
  'HorizontalPodAutoscalerBehavior',
  'How fast the autoscaler may add and remove pods. Each direction has its own defaults.',
  {
    scaleUp: s.use(
      rulesOf({
        stabilizationWindowSeconds: 0,
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      }),
      'Limits on adding pods. By default, the number may grow by 4 pods or 100% every 15 seconds, without a stabilization window.',
      { default: {} },
    ),
    scaleDown: s.use(
      rulesOf({ policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }),
      'Limits on removing pods. By default, the number may fall to minReplicas, but only after it could have done so for 300 seconds.',
      { default: {} },
    ),
  },
);
export type HorizontalPodAutoscalerBehavior = TypeOf<typeof HorizontalPodAutoscalerBehavior>;

function policyRule({ type, value, periodSeconds }: HPAScalingPolicy): FieldError[] {
  const found: FieldError[] = [];
  if (type !== 'Pods' && type !== 'Percent') found.push(notSupported('type', type, ['Percent', 'Pods']));
  if (value <= 0) found.push(invalid('value', value, 'must be greater than zero'));
  if (periodSeconds <= 0) found.push(invalid('periodSeconds', periodSeconds, 'must be greater than zero'));
  if (periodSeconds > MAX_PERIOD_SECONDS) {
    found.push(invalid('periodSeconds', periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`));
  }
  return found;
}
