/** Taints of devices, and the tolerations of claims. */
import { addAll } from '../../../../base/collections/add-all.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required, under } from '../../../../schema/field-error.ts';
import { labelValue, qualifiedName } from '../../../../schema/names.ts';
import type { TypeOf } from '../../../../schema/schema.ts';
import { named } from './device-names.ts';

const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];
const OPERATORS = ['Equal', 'Exists'];

export const DeviceTaint = s.object(
  'DeviceTaint',
  'Keeps claims from being allocated a device unless they tolerate it.',
  {
    key: s.string('Key of the taint, in the form of a label key. Required.', { zero: true }),
    value: s.string('Value of the taint, in the form of a label value.', { omitZero: true }),
    effect: s.string(
      'What happens to claims and pods that do not tolerate the taint: `None`; `NoSchedule`, the device is not allocated; or `NoExecute`, running pods are evicted as well. Required.',
      { zero: true },
    ),
    timeAdded: s.time('When the taint was added. Set by the server if it is left out.'),
  },
);
export type DeviceTaint = TypeOf<typeof DeviceTaint>;

const DeviceToleration = s.object('DeviceToleration', 'Lets a claim use devices with matching taints.', {
  key: s.string('Key of the taints to tolerate. Empty means all; operator must then be Exists.', { omitZero: true }),
  operator: s.string('`Equal` tolerates taints with this value, `Exists` with any value. Defaults to Equal.', {
    default: 'Equal',
  }),
  value: s.string('Value of the taints to tolerate. Must be empty for Exists.', { omitZero: true }),
  effect: s.string('Effect of the taints to tolerate: NoSchedule or NoExecute. Empty means all.', { omitZero: true }),
  tolerationSeconds: s.int64(
    'Seconds a pod may keep running after a NoExecute taint was added. Without it, forever; 0 and negative values evict it at once.',
  ),
});
type DeviceToleration = TypeOf<typeof DeviceToleration>;

export const DeviceTolerations = s.list(DeviceToleration, 'Taints of devices that are tolerated.');

export function taintRules({ key, value = '', effect }: DeviceTaint): FieldError[] {
  const found = [...under('key', named(qualifiedName)(key)), ...under('value', named(labelValue)(value))];
  if (!effect) found.push(required('effect'));
  else if (!EFFECTS.includes(effect)) found.push(notSupported('effect', effect, EFFECTS));
  return found;
}

export function tolerationRules(tolerations: readonly DeviceToleration[] = []): FieldError[] {
  return tolerations.flatMap((toleration, index) => under(`tolerations[${index}]`, tolerationRule(toleration)));
}

function tolerationRule({ key = '', operator, value = '', effect }: DeviceToleration): FieldError[] {
  const found = key ? under('key', named(qualifiedName)(key)) : [];
  switch (operator) {
    case 'Exists':
      if (value) found.push(invalid('value', value, 'must be empty for operator `Exists`'));
      break;
    case 'Equal':
      addAll(found, under('value', named(labelValue)(value)));
      break;
    default:
      found.push(notSupported('operator', operator, OPERATORS));
  }
  if (effect && !EFFECTS.includes(effect)) found.push(notSupported('effect', effect, EFFECTS));
  return found;
}
