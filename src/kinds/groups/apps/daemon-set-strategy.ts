/** The update strategy of a DaemonSet. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { countOrPercent, type IntOrPercent, magnitude, notMoreThanAll } from '../../shapes/meta/int-or-percent.ts';

const RollingUpdateDaemonSet = s.object(
  'RollingUpdateDaemonSet',
  'How many nodes a rolling update of a DaemonSet may affect at once.',
  {
    maxUnavailable: s.intOrString(
      'Maximum number of nodes whose pod may be unavailable during the update, as a count or as a percentage of status.desiredNumberScheduled (rounded up). Defaults to 1; must not be 0 unless maxSurge is set, which needs apps/v1.',
      { default: 1, rules: [countOrPercent, notMoreThanAll] },
    ),
    maxSurge: s.intOrString(
      'Maximum number of nodes that may run the new pod beside the old one during the update, as a count or as a percentage of status.desiredNumberScheduled (rounded up). Defaults to 0; cannot be combined with a non-zero maxUnavailable.',
      { default: 0, rules: [countOrPercent, notMoreThanAll] },
    ),
  },
  { rules: [unavailableOrSurge] },
);

/** A strategy with this default type. */
export function updateStrategyOf(type: 'RollingUpdate' | 'OnDelete') {
  return s.struct(
    'DaemonSetUpdateStrategy',
    'How existing pods are replaced when the pod template changes.',
    {
      type: s.string(
        '`RollingUpdate` deletes and replaces outdated pods automatically; `OnDelete` replaces a pod only after it was deleted by hand. Defaults to RollingUpdate (OnDelete in extensions/v1beta1).',
        { default: type },
      ),
      rollingUpdate: s.use(
        RollingUpdateDaemonSet,
        'Parameters of the rolling update. Used only when type is RollingUpdate.',
        {
          default: (strategy: { readonly type?: string }): object | undefined =>
            strategy.type === 'RollingUpdate' ? {} : undefined,
        },
      ),
    },
    { rules: [knownType] },
  );
}

interface RollingUpdate {
  readonly maxUnavailable: IntOrPercent;
  readonly maxSurge: IntOrPercent;
}

/** The version since which a DaemonSet can surge. In requests of older ones some pods must be allowed to be unavailable. */
const SURGING_VERSION = 'apps/v1';

/** Exactly one of the two is above zero: either the old pod is deleted first, or the new one is created first. */
function unavailableOrSurge(
  { maxUnavailable, maxSurge }: RollingUpdate,
  { parent, old, apiVersion }: RuleContext<RollingUpdate, unknown, { readonly type: string }>,
): FieldError | undefined {
  const hasUnavailable = magnitude(maxUnavailable) !== 0;
  const hasSurge = magnitude(maxSurge) !== 0;
  const isOlder = apiVersion !== undefined && apiVersion !== SURGING_VERSION;
  // A surge that is there already stays, so that an older client can change the rest of the object.
  if (isOlder && !hasUnavailable && !(old && magnitude(old.maxUnavailable) === 0)) {
    return invalid('maxUnavailable', maxUnavailable, 'cannot be 0');
  }
  if (!hasUnavailable && !hasSurge) return required('maxUnavailable', 'cannot be 0 when maxSurge is 0');
  return hasUnavailable && hasSurge && parent.type === 'RollingUpdate'
    ? invalid('maxSurge', maxSurge, 'may not be set when maxUnavailable is non-zero')
    : undefined;
}

function knownType(strategy: { readonly type: string }): FieldError | undefined {
  const types = ['RollingUpdate', 'OnDelete'];
  return types.includes(strategy.type) ? undefined : notSupported('', strategy, types);
}
