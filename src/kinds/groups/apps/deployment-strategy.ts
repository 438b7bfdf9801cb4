/** How a Deployment's new pods take the place of old ones. */
import { s } from '../../../schema/builders.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { forbidden, invalid, notSupported } from '../../../schema/field-error.ts';
import { countOrPercent, type IntOrPercent, magnitude, notMoreThanAll } from '../../shapes/meta/int-or-percent.ts';

/** A strategy whose rolling updates go on in steps of this size. */
export function strategyOf(step: IntOrPercent) {
  const RollingUpdateDeployment = s.object(
    'RollingUpdateDeployment',
    {
      maxUnavailable: s.intOrString({
        default: step,
        rules: [countOrPercent, notMoreThanAll],
        description: 'How many pods may be missing meanwhile, as a number or a percentage of replicas, rounded down.',
      }),
      maxSurge: s.intOrString({
        default: step,
        rules: [countOrPercent],
        description: 'How many pods there may be beyond replicas, as a number or a percentage of them, rounded up.',
      }),
    },
    { rules: [movesOn], description: 'Only for RollingUpdate. One of its two numbers must not be 0.' },
  );
  return s.object(
    'DeploymentStrategy',
    {
      type: s.string({
        default: 'RollingUpdate',
        description: 'RollingUpdate replaces pods step by step; Recreate ends all old ones first.',
      }),
      rollingUpdate: s.use(RollingUpdateDeployment, {
        default: (strategy: any): object | undefined => (strategy.type === 'RollingUpdate' ? {} : undefined),
      }),
    },
    { default: {}, retainKeys: true, rules: [fitsType], description: 'How new pods take the place of old ones.' },
  );
}

function movesOn({ maxUnavailable, maxSurge }: any, { parent }: { readonly parent: any }): FieldError | undefined {
  return parent.type === 'RollingUpdate' && magnitude(maxUnavailable) === 0 && magnitude(maxSurge) === 0
    ? invalid('maxUnavailable', maxUnavailable, 'may not be 0 when `maxSurge` is 0')
    : undefined;
}

function fitsType(strategy: any): FieldError | undefined {
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
