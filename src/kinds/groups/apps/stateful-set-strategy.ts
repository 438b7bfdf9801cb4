/** The update strategy of a StatefulSet. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';
import { countOrPercent, type IntOrPercent, magnitude, notMoreThanAll } from '../../shapes/meta/int-or-percent.ts';

const notZero: Rule<IntOrPercent> = (value) => (magnitude(value) === 0 ? invalid('', value, 'cannot be 0') : undefined);

const RollingUpdateStatefulSetStrategy = s.object(
  'RollingUpdateStatefulSetStrategy',
  'Which pods of a StatefulSet a rolling update replaces, and how many at once.',
  {
    partition: s.int32(
      'Ordinal at which the update stops: pods with a lower ordinal keep their old revision, even when they are recreated. Defaults to 0, which updates every pod.',
      { min: 0, default: 0 },
    ),
    maxUnavailable: s.intOrString(
      'Maximum number of pods that may be unavailable during the update, as a count or as a percentage of spec.replicas (rounded up). Must not be 0; defaults to 1.',
      { rules: [countOrPercent, notZero, notMoreThanAll] },
    ),
  },
);

interface Strategy {
  readonly type: string;
  readonly rollingUpdate?: object;
}

/** A strategy with this default type. */
export function updateStrategyOf(type: 'RollingUpdate' | 'OnDelete') {
  return s.struct(
    'StatefulSetUpdateStrategy',
    'How existing pods are replaced when the pod template changes.',
    {
      // Stands before the type, because it gets a default only if the type is left out as well.
      rollingUpdate: s.use(
        RollingUpdateStatefulSetStrategy,
        'Parameters of the rolling update. Allowed only when type is RollingUpdate.',
        {
          default: (strategy: Partial<Strategy>): object | undefined =>
            type === 'RollingUpdate' && strategy.type === undefined ? {} : undefined,
        },
      ),
      type: s.string(
        '`RollingUpdate` replaces outdated pods automatically, from the highest ordinal to the lowest; `OnDelete` replaces a pod only after it was deleted by hand. Defaults to RollingUpdate (OnDelete in apps/v1beta1).',
        { default: type },
      ),
    },
    { rules: [fitsType] },
  );
}

function fitsType(strategy: Strategy): FieldError | undefined {
  const { type, rollingUpdate } = strategy;
  switch (type) {
    case 'RollingUpdate':
      return undefined;
    case 'OnDelete':
      return rollingUpdate
        ? invalid('rollingUpdate', rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")
        : undefined;
    default:
      return invalid('', strategy, "must be 'RollingUpdate' or 'OnDelete'");
  }
}
