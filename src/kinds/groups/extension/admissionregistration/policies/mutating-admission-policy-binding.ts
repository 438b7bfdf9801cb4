import { s } from '../../../../../schema/builders.ts';
import { age, name } from '../../../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../../../kind.ts';
import { operationsAreMutable } from './match-resources.ts';
import { paramRefCell } from './params.ts';
import { bindingFields } from './policy-fields.ts';

/** Applies a MutatingAdmissionPolicy to requests, with parameters. */
export const MutatingAdmissionPolicyBinding = defineKind({
  kind: 'MutatingAdmissionPolicyBinding',
  categories: ['api-extensions'],
  scope: 'Cluster',
  description: 'Puts a MutatingAdmissionPolicy into effect: for which requests and with which parameters.',
  versions: {
    'admissionregistration.k8s.io/v1': {},
    'admissionregistration.k8s.io/v1beta1': {},
    'admissionregistration.k8s.io/v1alpha1': {},
  },
  fields: {
    spec: s.struct('MutatingAdmissionPolicyBindingSpec', 'Desired behavior of the binding.', {
      ...bindingFields,
      policyName: s.use(bindingFields.policyName, { zero: false }),
      matchResources: s.use(bindingFields.matchResources, { rules: [operationsAreMutable] }),
    }),
  },
  generation: true,
  columns: ({ text }) => [
    name,
    text('PolicyName', 'Name of the policy.', ({ spec }) => spec?.policyName ?? ''),
    text('ParamRef', 'Objects that parameterize the policy.', ({ spec }) => paramRefCell(spec?.paramRef)),
    age,
  ],
});
export type MutatingAdmissionPolicyBinding = ObjectOf<typeof MutatingAdmissionPolicyBinding>;
