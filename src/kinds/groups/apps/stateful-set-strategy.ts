/** How a StatefulSet's new pods take the place of old ones. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';
import { countOrPercent, type IntOrPercent, magnitude, notMoreThanAll } from '../../shapes/meta/int-or-percent.ts';

const notZero: Rule<IntOrPercent> = (value) => (magnitude(value) === 0 ? invalid('', value, 'cannot be 0') : undefined);

const RollingUpdateStatefulSetStrategy = s.object('RollingUpdateStatefulSetStrategy', {
  partition: s.int32({ min: 0, default: 0, description: 'Pods whose ordinal is below this number stay as they are.' }),
  maxUnavailable: s.intOrString({
    rules: [countOrPercent, notZero, notMoreThanAll],
    description:
      'How many pods may be missing meanwhile, as a number or a percentage of replicas, rounded up; one where nothing is said.',
  }),
});

/** A strategy that is of this type where nothing is said. */
export function updateStrategyOf(type: 'RollingUpdate' | 'OnDelete') {
  return s.object(
    'StatefulSetUpdateStrategy',
    {
      // Before the type, because it is filled in only where the type is left out, too.
      rollingUpdate: s.use(RollingUpdateStatefulSetStrategy, {
        default: (strategy: any): object | undefined =>
          type === 'RollingUpdate' && strategy.type === undefined ? {} : undefined,
        description: 'Only for RollingUpdate.',
      }),
      type: s.string({
        default: type,
        description: 'RollingUpdate replaces pods by itself, the last first; OnDelete waits until they are deleted.',
      }),
    },
    { default: {}, rules: [fitsType], description: 'How new pods take the place of old ones.' },
  );
}

function fitsType(strategy: any): FieldError | undefined {
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
