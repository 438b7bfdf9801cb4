import { s } from '../../../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported } from '../../../../../schema/field-error.ts';
import { age, name } from '../../../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../../../kind.ts';
import { paramRefCell } from './params.ts';
import { bindingFields } from './policy-fields.ts';

/** Sorted, as error messages list them. */
const ACTIONS = ['Audit', 'Deny', 'Warn'];

/** Applies a ValidatingAdmissionPolicy to requests, with parameters and consequences. */
export const ValidatingAdmissionPolicyBinding = defineKind({
  kind: 'ValidatingAdmissionPolicyBinding',
  categories: ['api-extensions'],
  scope: 'Cluster',
  description:
    'Puts a ValidatingAdmissionPolicy into effect: for which requests, with which parameters and consequences.',
  versions: { 'admissionregistration.k8s.io/v1': {} },
  fields: {
    spec: s.object(
      'ValidatingAdmissionPolicyBindingSpec',
      'Desired behavior of the binding. Required.',
      {
        ...bindingFields,
        validationActions: s.set(
          s.string(),
          'What happens when a validation fails: Deny rejects the request, Warn warns the client, Audit adds an annotation to the ' +
            'audit event. Deny and Warn exclude each other. Required.',
          { zero: true, required: 'at least one validation action is required', rules: [actionsAreValid] },
        ),
      },
      { zero: true },
    ),
  },
  generation: true,
  columns: ({ text }) => [
    name,
    text('PolicyName', 'Name of the policy.', ({ spec }) => spec?.policyName ?? ''),
    text('ParamRef', 'Objects that parameterize the policy.', ({ spec }) => paramRefCell(spec?.paramRef)),
    age,
  ],
});
export type ValidatingAdmissionPolicyBinding = ObjectOf<typeof ValidatingAdmissionPolicyBinding>;

function actionsAreValid(actions: readonly string[]): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  actions.forEach((action, index) => {
    if (!ACTIONS.includes(action)) found.push(notSupported(`[${index}]`, action, ACTIONS));
    if (seen.has(action)) found.push(duplicate(`[${index}]`, action));
    seen.add(action);
  });
  if (seen.has('Deny') && seen.has('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    found.push(invalid('', actions, detail));
  }
  return found;
}
