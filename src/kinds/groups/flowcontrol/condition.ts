/** The conditions of the kinds of this group. */
import { s } from '../../../schema/builders.ts';
import { unique } from '../../../schema/rules.ts';

const fields = {
  type: s.string({
    omitZero: true,
    required: true,
    description: 'Type of the condition, such as Dangling. Required; unique in the list.',
  }),
  status: s.string({ omitZero: true, description: 'Whether the condition holds: True, False or Unknown.' }),
  lastTransitionTime: s.time({ description: 'When the status of the condition last changed.' }),
  reason: s.string({ omitZero: true, description: 'Reason for the last change of the status, in one CamelCase word.' }),
  message: s.string({ omitZero: true, description: 'Details about the last change of the status, for people.' }),
};

/** The conditions of a kind, unique by type. */
export const conditionsOf = (kind: string) =>
  s.listMap(s.object(`${kind}Condition`, fields, { description: 'One observation about the state of the object.' }), {
    keys: ['type'],
    rules: [unique('type')],
    description:
      'Latest observations of the state of the object, at most one per type. Dangling is True for a FlowSchema whose priority level does not exist.',
  });
