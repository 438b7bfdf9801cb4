/** How fast an autoscaler may change the number of pods, up and down. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported } from '../../../schema/field-error.ts';
import type { ObjectType, Rule, TypeOf } from '../../../schema/schema.ts';

const LONGEST_WINDOW = 3600;
const LONGEST_PERIOD = 1800;

const policy = {
  type: s.string({ zero: true, description: 'Pods or Percent.' }),
  value: s.int32({ zero: true, description: 'How many pods, or how many hundredths of them.' }),
  periodSeconds: s.int32({ zero: true, description: 'In how much time.' }),
};
type HPAScalingPolicy = ObjectType<typeof policy>;

const HPAScalingPolicy = s.object('HPAScalingPolicy', policy, { rules: [policyRule] });

const window: Rule<number> = (seconds) => {
  if (seconds < 0) return invalid('', seconds, 'must be greater than or equal to zero');
  return seconds > LONGEST_WINDOW ? invalid('', seconds, `must be less than or equal to ${LONGEST_WINDOW}`) : undefined;
};

const notNegative: Rule<string> = (amount) =>
  amount.startsWith('-') ? invalid('', amount, 'must be greater than or equal to 0') : undefined;

/** What holds in one direction where nothing is said. */
interface Preset {
  readonly stabilizationWindowSeconds?: number;
  readonly policies: HPAScalingPolicy[];
}

const rulesOf = ({ stabilizationWindowSeconds, policies }: Preset) =>
  s.object(
    'HPAScalingRules',
    {
      stabilizationWindowSeconds: s.int32({
        default: () => stabilizationWindowSeconds,
        rules: [window],
        description: 'How long ago a recommendation may be that still holds the number back.',
      }),
      selectPolicy: s.enum(['Disabled', 'Max', 'Min'], {
        default: 'Max',
        description: 'Which of the policies counts: the one that allows most, least, or none at all.',
      }),
      policies: s.list(HPAScalingPolicy, { default: policies, description: 'By how much the number may change.' }),
      tolerance: s.quantity({
        rules: [notNegative],
        description: 'By how much the metrics may miss their target before anything is done; 0.1 is a tenth.',
      }),
    },
    { default: {} },
  );

export const HorizontalPodAutoscalerBehavior = s.object(
  'HorizontalPodAutoscalerBehavior',
  {
    scaleUp: s.use(
      rulesOf({
        stabilizationWindowSeconds: 0,
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      }),
      { default: {}, description: 'How pods are added.' },
    ),
    scaleDown: s.use(rulesOf({ policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }), {
      default: {},
      description: 'How pods are taken away.',
    }),
  },
  { description: 'How fast the number of pods may change.' },
);
export type HorizontalPodAutoscalerBehavior = TypeOf<typeof HorizontalPodAutoscalerBehavior>;

function policyRule({ type, value, periodSeconds }: HPAScalingPolicy): FieldError[] {
  const found: FieldError[] = [];
  if (type !== 'Pods' && type !== 'Percent') found.push(notSupported('type', type, ['Percent', 'Pods']));
  if (value <= 0) found.push(invalid('value', value, 'must be greater than zero'));
  if (periodSeconds <= 0) found.push(invalid('periodSeconds', periodSeconds, 'must be greater than zero'));
  if (periodSeconds > LONGEST_PERIOD) {
    found.push(invalid('periodSeconds', periodSeconds, `must be less than or equal to ${LONGEST_PERIOD}`));
  }
  return found;
}
