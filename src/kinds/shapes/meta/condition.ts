import { s } from '../../../schema/builders.ts';
import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  under,
} from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';

const fields = {
  type: s.string('Type of the condition in CamelCase, such as Ready. Unique within the list.', { zero: true }),
  status: s.string('Whether the condition holds: True, False or Unknown.', { zero: true }),
  observedGeneration: s.int64(
    'metadata.generation that the condition was computed from. If it is lower than the current one, the ' +
      'condition is out of date.',
  ),
  lastTransitionTime: s.time('Time at which the status last changed.', { zero: true }),
  reason: s.string('Machine-readable cause of the last transition, as one CamelCase word of at most 1024 characters.', {
    zero: true,
  }),
  message: s.string('Explanation of the last transition for people, of at most 32 KiB. May be empty.', { zero: true }),
};
type Condition = ObjectType<typeof fields>;

/** The condition shape that newer kinds share; older kinds have their own. */
export const Condition = s.object('Condition', 'One aspect of the observed state of an object.', fields);

const STATUSES = ['False', 'True', 'Unknown'];
const LONGEST_REASON = 1024;
const LONGEST_MESSAGE = 32 * 1024;
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const REASON_WORDS = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${REASON}')`;
const reasonPattern = new RegExp(`^${REASON}$`);

/** Checks that each condition of a list has a unique type and is complete. Not every kind requires that. */
export function completeConditions(list: readonly Condition[]): FieldError[] {
  const seen = new Set<string>();
  return list.flatMap((condition, index) => {
    const found = seen.has(condition.type) ? [duplicate('type', condition.type)] : [];
    seen.add(condition.type);
    return under(`[${index}]`, [...found, ...complete(condition)]);
  });
}

function complete({ type, status, observedGeneration = 0, lastTransitionTime, reason, message }: Condition) {
  const found: FieldError[] = qualifiedName(type).map((complaint) => invalid('type', type, complaint));
  if (!STATUSES.includes(status)) found.push(notSupported('status', status, STATUSES));
  if (observedGeneration < 0) {
    found.push(invalid('observedGeneration', observedGeneration, 'must be greater than or equal to zero'));
  }
  if (!lastTransitionTime) found.push(required('lastTransitionTime'));
  if (!reason) found.push(required('reason'));
  else if (!reasonPattern.test(reason)) found.push(invalid('reason', reason, REASON_WORDS));
  if (Buffer.byteLength(reason) > LONGEST_REASON) found.push(tooLong('reason', LONGEST_REASON));
  if (Buffer.byteLength(message) > LONGEST_MESSAGE) found.push(tooLong('message', LONGEST_MESSAGE));
  return found;
}
