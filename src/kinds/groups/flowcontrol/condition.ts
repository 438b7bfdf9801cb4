/** What holds for an object of this group. */
import { s } from '../../../schema/builders.ts';
import { unique } from '../../../schema/rules.ts';

const fields = {
  type: s.string({ omitZero: true, required: true }),
  status: s.string({ omitZero: true, description: 'True, False or Unknown.' }),
  lastTransitionTime: s.time(),
  reason: s.string({ omitZero: true, description: 'Why, in one CamelCase word.' }),
  message: s.string({ omitZero: true, description: 'Why, for people.' }),
};

/** The conditions of a kind, each of another type. */
export const conditionsOf = (kind: string) =>
  s.listMap(s.object(`${kind}Condition`, fields), { keys: ['type'], rules: [unique('type')] });
