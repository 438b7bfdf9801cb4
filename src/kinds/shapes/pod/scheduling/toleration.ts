/** Tolerations: which taints of nodes a pod accepts. */
import { addAll } from '../../../../base/collections/add-all.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, under } from '../../../../schema/field-error.ts';
import { labelValue, qualifiedName } from '../../../../schema/names.ts';
import type { ObjectType } from '../../../../schema/schema.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const toleration = {
  key: s.string('Taint key that is tolerated. If empty, the operator must be Exists, and all taints are tolerated.', {
    omitZero: true,
  }),
  operator: s.string('Exists tolerates any value of the taint, Equal only the given value. Defaults to Equal.', {
    omitZero: true,
  }),
  value: s.string('Taint value that is tolerated. Must be empty with Exists.', { omitZero: true }),
  effect: s.string(
    'Taint effect that is tolerated: NoSchedule, PreferNoSchedule or NoExecute. If empty, all effects.',
    { omitZero: true },
  ),
  tolerationSeconds: s.int64(
    'Seconds that the pod stays on the node after a NoExecute taint was added; 0 or less evicts it at once. ' +
      'If absent, it stays. Only allowed with NoExecute.',
  ),
};
export type Toleration = ObjectType<typeof toleration>;

export const Toleration = s.object('Toleration', 'Allows a pod on nodes with taints that match.', toleration, {
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
      addAll(found, under('operator', comparison(operator, value)));
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
