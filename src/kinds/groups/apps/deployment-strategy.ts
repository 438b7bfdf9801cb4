/** The strategy by which a Deployment replaces pods. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { countOrPercent, type IntOrPercent, magnitude, notMoreThanAll } from '../../shapes/meta/int-or-percent.ts';

/** A strategy whose maxUnavailable and maxSurge default to `step`. */
export function strategyOf(step: IntOrPercent) {
  const RollingUpdateDeployment = s.object(
    'RollingUpdateDeployment',
    'Parameters of a rolling update. Allowed only when type is RollingUpdate.',
    {
      maxUnavailable: s.intOrString(
        'Maximum number of pods that may be unavailable during the update, as a count or as a percentage of spec.replicas (rounded down). Defaults to 25% (1 in extensions/v1beta1); cannot be 0 when maxSurge is 0.',
        { default: step, rules: [countOrPercent, notMoreThanAll] },
      ),
      maxSurge: s.intOrString(
        'Maximum number of pods that may exist above spec.replicas during the update, as a count or as a percentage of spec.replicas (rounded up). Defaults to 25% (1 in extensions/v1beta1); cannot be 0 when maxUnavailable is 0.',
        { default: step, rules: [countOrPercent] },
      ),
    },
    { rules: [makesProgress] },
  );
  return s.struct(
    'DeploymentStrategy',
    'How existing pods are replaced when the pod template changes.',
    {
      type: s.string(
        '`RollingUpdate` replaces old pods gradually, within the bounds of maxUnavailable and maxSurge; `Recreate` deletes all old pods before it creates new ones. Defaults to RollingUpdate.',
        { default: 'RollingUpdate' },
      ),
      rollingUpdate: s.use(RollingUpdateDeployment, {
        default: (strategy: { readonly type?: string }): object | undefined =>
          strategy.type === 'RollingUpdate' ? {} : undefined,
      }),
    },
    { retainKeys: true, rules: [fitsType] },
  );
}

interface RollingUpdate {
  readonly maxUnavailable: IntOrPercent;
  readonly maxSurge: IntOrPercent;
}

interface Strategy {
  readonly type: string;
  readonly rollingUpdate?: RollingUpdate;
}

function makesProgress(
  { maxUnavailable, maxSurge }: RollingUpdate,
  { parent }: RuleContext<RollingUpdate, unknown, Strategy>,
): FieldError | undefined {
  return parent.type === 'RollingUpdate' && magnitude(maxUnavailable) === 0 && magnitude(maxSurge) === 0
    ? invalid('maxUnavailable', maxUnavailable, 'may not be 0 when `maxSurge` is 0')
    : undefined;
}

function fitsType(strategy: Strategy): FieldError | undefined {
  switch (strategy.type) {
    case 'RollingUpdate':
      return undefined;
    case 'Recreate':
      return strategy.rollingUpdate
        ? forbidden('rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")
        : undefined;
    default:
      return notSupported('', strategy, ['Recreate', 'RollingUpdate']);
  }
}
