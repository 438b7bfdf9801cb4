/** What lets a pod onto nodes with a taint. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, under } from '../../../schema/field-error.ts';
import { labelValue, qualifiedName } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const toleration = {
  key: s.string({
    omitZero: true,
    description: 'The taint it is for; without a key, every taint (and the operator must be Exists).',
  }),
  operator: s.string({
    omitZero: true,
    description: 'Equal compares values and is the default; Exists takes any value.',
  }),
  value: s.string({ omitZero: true }),
  effect: s.string({ omitZero: true, description: 'The effect it is for; without one, every effect.' }),
  tolerationSeconds: s.int64({ description: 'With NoExecute: how long the pod may stay once the taint is there.' }),
};
export type Toleration = ObjectType<typeof toleration>;

export const Toleration = s.object('Toleration', toleration, {
  rules: [
    ({ key, operator = '', value = '', effect = '', tolerationSeconds }: Toleration) => {
      const found: FieldError[] = [];
      if (key) {
        for (const complaint of qualifiedName(key)) found.push(invalid('key', key, complaint));
      } else if (operator !== 'Exists') {
        found.push(
          invalid(
            'operator',
            operator,
            'operator must be Exists when `key` is empty, which means "match all values and all keys"',
          ),
        );
      }
      if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
        found.push(invalid('effect', effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
      }
      found.push(...under('operator', comparison(operator, value)));
      if (effect && !effects.includes(effect)) found.push(notSupported('effect', effect, effects));
      return found;
    },
  ],
});

function comparison(operator: string, value: string): FieldError[] {
  switch (operator) {
    case '':
    case 'Equal': {
      const complaints = labelValue(value);
      return complaints.length ? [invalid('', value, complaints.join(';'))] : [];
    }
    case 'Exists':
      return value ? [invalid('', value, "value must be empty when `operator` is 'Exists'")] : [];
    default:
      return [notSupported('', operator, ['Equal', 'Exists'])];
  }
}
