import { s } from '../../../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../../../schema/field-error.ts';
import { unique } from '../../../../../schema/rules.ts';
import type { ObjectType, TypeOf } from '../../../../../schema/schema.ts';
import { age, name } from '../../../../columns/column.ts';
import { defineKind, type KubeObject } from '../../../../kind.ts';
import { matchConditions } from '../match-condition.ts';
import { mutationsCompile } from './expression-rules.ts';
import { operationsAreMutable } from './match-resources.ts';
import { paramKind, paramKindCell } from './params.ts';
import { failurePolicy, MAX_EXPRESSIONS, matchConstraints } from './policy-fields.ts';
import { Variable } from './variable.ts';

const mutation = {
  patchType: s.enum(['ApplyConfiguration', 'JSONPatch'], {
    zero: true,
    required: true,
    description: 'How the object is changed: ApplyConfiguration or JSONPatch. Required.',
  }),
  applyConfiguration: s.object(
    'ApplyConfiguration',
    {
      expression: s.string({
        omitZero: true,
        required: true,
        rules: [isNotBlank],
        description:
          'CEL expression for the fields to set, such as Object{spec: Object.spec{replicas: 3}}. They are merged into the object as ' +
          'server-side apply merges; lists and maps that are replaced as a whole cannot be among them. Required.',
      }),
    },
    { description: 'Fields to set. Required when patchType is ApplyConfiguration.' },
  ),
  jsonPatch: s.object(
    'JSONPatch',
    {
      expression: s.string({
        omitZero: true,
        required: true,
        rules: [isNotBlank],
        description:
          'CEL expression for a list of JSON patch operations, such as [JSONPatch{op: "add", path: "/spec/replicas", value: 3}]. ' +
          'Required.',
      }),
    },
    { description: 'A JSON patch. Required when patchType is JSONPatch.' },
  ),
};

const Mutation = s.object('Mutation', mutation, {
  rules: [oneKindOfPatch],
  description: 'A change of the object.',
});
export type Mutation = TypeOf<typeof Mutation>;

const spec = {
  paramKind,
  matchConstraints: s.use(matchConstraints, { rules: [operationsAreMutable] }),
  variables: s.list(Variable, {
    maxItems: MAX_EXPRESSIONS,
    rules: [unique('name')],
    description:
      'Named expressions that the other expressions use as variables.NAME, except matchConditions; at most 250.',
  }),
  mutations: s.list(Mutation, {
    maxItems: MAX_EXPRESSIONS,
    required: 'mutations must contain at least one item',
    description: 'Changes of the object, made one after the other; at most 250. At least one is required.',
  }),
  failurePolicy,
  matchConditions,
  reinvocationPolicy: s.enum(['IfNeeded', 'Never'], {
    required: true,
    description:
      'Whether the policy is evaluated a second time when the object was changed after it: Never or IfNeeded. Required.',
  }),
};

const specOptions = { default: {}, rules: [mutationsCompile], description: 'Desired behavior of the policy.' };
const fields = { spec: s.object('MutatingAdmissionPolicySpec', spec, specOptions) };

/** Variables whose fields are owned one by one, as in v1alpha1. */
const alphaSpec = {
  ...spec,
  variables: s.list(s.use(Variable, { atomic: false }), {
    maxItems: MAX_EXPRESSIONS,
    rules: [unique('name')],
    description: spec.variables.description!,
  }),
};

export type MutatingAdmissionPolicy = KubeObject & ObjectType<typeof fields>;

/** Expressions that change the written object. */
export const MutatingAdmissionPolicy = defineKind({
  group: 'admissionregistration.k8s.io',
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  categories: ['api-extensions'],
  scope: 'Cluster',
  description:
    'CEL expressions that change objects when they are written. A policy has effect where a MutatingAdmissionPolicyBinding names it.',
  versions: {
    'admissionregistration.k8s.io/v1': {},
    'admissionregistration.k8s.io/v1beta1': {},
    'admissionregistration.k8s.io/v1alpha1': {
      fields: { spec: s.object('MutatingAdmissionPolicySpec', alphaSpec, specOptions) },
    },
  },
  fields,
  generation: true,
  columns: ({ text, integer }) => [
    name,
    integer('Mutations', 'Number of mutations in the policy.', ({ spec }) => spec?.mutations?.length),
    text('ParamKind', 'Kind of the objects that parameterize the policy.', ({ spec }) =>
      paramKindCell(spec?.paramKind),
    ),
    age,
  ],
});

function isNotBlank(expression: string): FieldError | undefined {
  return expression !== '' && expression.trim() === '' ? required('') : undefined;
}

function oneKindOfPatch({ patchType, applyConfiguration, jsonPatch }: ObjectType<typeof mutation>): FieldError[] {
  const found: FieldError[] = [];
  if (patchType === 'JSONPatch') {
    const detail = `specified when patchType is ${patchType}`;
    if (!jsonPatch) found.push(required('jsonPatch', `must be ${detail}`));
    if (applyConfiguration) found.push(invalid('applyConfiguration', '{applyConfiguration}', `must not be ${detail}`));
  }
  if (patchType === 'ApplyConfiguration') {
    const detail = `specified when patchType is ${patchType}`;
    if (!applyConfiguration) found.push(required('applyConfiguration', `must be ${detail}`));
    if (jsonPatch) found.push(invalid('jsonPatch', '{jsonPatch}', `must not be ${detail}`));
  }
  return found;
}
