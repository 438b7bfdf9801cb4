/** What keeps pods from a device, and what lets them use it all the same. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required, under } from '../../../schema/field-error.ts';
import { labelValue, qualifiedName } from '../../../schema/names.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { named } from './device-names.ts';

const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];
const OPERATORS = ['Equal', 'Exists'];

export const DeviceTaint = s.object('DeviceTaint', {
  key: s.string({ zero: true, description: 'What the taint is called.' }),
  value: s.string({ omitZero: true, description: 'What it says, where a name is not enough.' }),
  effect: s.string({
    zero: true,
    description: 'What it does to pods that do not tolerate it: None, NoSchedule, or NoExecute, which ends them.',
  }),
  timeAdded: s.time({ description: 'When the device was tainted; where absent, now.' }),
});
export type DeviceTaint = TypeOf<typeof DeviceTaint>;

const DeviceToleration = s.object('DeviceToleration', {
  key: s.string({ omitZero: true, description: 'The taint it is for; without a key, every taint.' }),
  operator: s.string({ default: 'Equal', description: 'Equal compares values; Exists takes any value.' }),
  value: s.string({ omitZero: true }),
  effect: s.string({ omitZero: true, description: 'The effect it is for; without one, every effect.' }),
  tolerationSeconds: s.int64({ description: 'With NoExecute: how long the pod may stay once the taint is there.' }),
});
type DeviceToleration = TypeOf<typeof DeviceToleration>;

export const DeviceTolerations = s.list(DeviceToleration, { description: 'Taints of devices that are accepted.' });

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
      found.push(...under('value', named(labelValue)(value)));
      break;
    default:
      found.push(notSupported('operator', operator, OPERATORS));
  }
  if (effect && !EFFECTS.includes(effect)) found.push(notSupported('effect', effect, EFFECTS));
  return found;
}
