/** How a DaemonSet's new pods take the place of old ones. */
import { s } from '../../../schema/builders.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { invalid, notSupported, required } from '../../../schema/field-error.ts';
import { countOrPercent, magnitude, notMoreThanAll } from '../../shapes/meta/int-or-percent.ts';

const RollingUpdateDaemonSet = s.object(
  'RollingUpdateDaemonSet',
  {
    maxUnavailable: s.intOrString({
      default: 1,
      rules: [countOrPercent, notMoreThanAll],
      description:
        'How many nodes may be without a pod meanwhile, as a number or a percentage of status.desiredNumberScheduled, rounded up. Not 0, unless maxSurge is above 0.',
    }),
    maxSurge: s.intOrString({
      default: 0,
      rules: [countOrPercent, notMoreThanAll],
      description:
        'How many nodes may run an old and a new pod at once, so that none is without. Not with maxUnavailable.',
    }),
  },
  { rules: [oneWay] },
);

export function updateStrategyOf(type: 'RollingUpdate' | 'OnDelete') {
  return s.object(
    'DaemonSetUpdateStrategy',
    {
      type: s.string({
        default: type,
        description: 'RollingUpdate replaces pods by itself; OnDelete waits until somebody deletes the old ones.',
      }),
      rollingUpdate: s.use(RollingUpdateDaemonSet, {
        default: (strategy: any): object | undefined => (strategy.type === 'RollingUpdate' ? {} : undefined),
        description: 'Only for RollingUpdate.',
      }),
    },
    { default: {}, rules: [knownType], description: 'How new pods take the place of old ones.' },
  );
}

/** Either the old pod goes first, or the new one comes first. */
function oneWay({ maxUnavailable, maxSurge }: any, { parent }: { readonly parent: any }): FieldError | undefined {
  if (parent.type !== 'RollingUpdate') return undefined;
  const gone = magnitude(maxUnavailable) !== 0;
  const surplus = magnitude(maxSurge) !== 0;
  if (gone && surplus) return invalid('maxSurge', maxSurge, 'may not be set when maxUnavailable is non-zero');
  return gone || surplus ? undefined : required('maxUnavailable', 'cannot be 0 when maxSurge is 0');
}

function knownType(strategy: any): FieldError | undefined {
  const types = ['RollingUpdate', 'OnDelete'];
  return types.includes(strategy.type) ? undefined : notSupported('', strategy, types);
}
