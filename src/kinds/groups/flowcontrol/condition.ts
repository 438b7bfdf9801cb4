/** The conditions of the kinds of this group. */
import { s } from '../../../schema/builders.ts';
import { unique } from '../../../schema/rules.ts';

const fields = {
  type: s.string('Type of the condition, such as Dangling. Required; unique in the list.', {
    omitZero: true,
    required: true,
  }),
  status: s.string('Whether the condition holds: True, False or Unknown.', { omitZero: true }),
  lastTransitionTime: s.time('When the status of the condition last changed.'),
  reason: s.string('Reason for the last change of the status, in one CamelCase word.', { omitZero: true }),
  message: s.string('Details about the last change of the status, for people.', { omitZero: true }),
};

/** The conditions of a kind, unique by type. */
export const conditionsOf = (kind: string) =>
  s.listMap(
    s.object(`${kind}Condition`, 'One observation about the state of the object.', fields),
    'Latest observations of the state of the object, at most one per type. Dangling is True for a FlowSchema whose priority level does not exist.',
    { keys: ['type'], rules: [unique('type')] },
  );
