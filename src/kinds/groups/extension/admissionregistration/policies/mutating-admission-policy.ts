import { s } from '../../../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../../../schema/field-error.ts';
import { unique } from '../../../../../schema/rules.ts';
import type { Fields, ObjectType, TypeOf } from '../../../../../schema/schema.ts';
import { age, name } from '../../../../columns/column.ts';
import { defineKind, type KubeObject } from '../../../../kind.ts';
import { matchConditions } from '../match-condition.ts';
import { mutationsCompile } from './expression-rules.ts';
import { operationsAreMutable } from './match-resources.ts';
import { paramKind, paramKindCell } from './params.ts';
import { failurePolicy, MAX_EXPRESSIONS, matchConstraints } from './policy-fields.ts';
import { Variable } from './variable.ts';

const mutation = {
  patchType: s.enum(
    ['ApplyConfiguration', 'JSONPatch'],
    'How the object is changed: ApplyConfiguration or JSONPatch. Required.',
    { zero: true, required: true },
  ),
  applyConfiguration: s.object('ApplyConfiguration', 'Fields to set. Required when patchType is ApplyConfiguration.', {
    expression: s.string(
      'CEL expression for the fields to set, such as Object{spec: Object.spec{replicas: 3}}. They are merged into the object as ' +
        'server-side apply merges; lists and maps that are replaced as a whole cannot be among them. Required.',
      { omitZero: true, required: true, rules: [isNotBlank] },
    ),
  }),
  jsonPatch: s.object('JSONPatch', 'A JSON patch. Required when patchType is JSONPatch.', {
    expression: s.string(
      'CEL expression for a list of JSON patch operations, such as [JSONPatch{op: "add", path: "/spec/replicas", value: 3}]. ' +
        'Required.',
      { omitZero: true, required: true, rules: [isNotBlank] },
    ),
  }),
};

const Mutation = s.object('Mutation', 'A change of the object.', mutation, { rules: [oneKindOfPatch] });
export type Mutation = TypeOf<typeof Mutation>;

const spec = {
  paramKind,
  matchConstraints: s.use(matchConstraints, { rules: [operationsAreMutable] }),
  variables: s.list(
    Variable,
    'Named expressions that the other expressions use as variables.NAME, except matchConditions; at most 250.',
    { maxItems: MAX_EXPRESSIONS, rules: [unique('name')] },
  ),
  mutations: s.list(
    Mutation,
    'Changes of the object, made one after the other; at most 250. At least one is required.',
    { maxItems: MAX_EXPRESSIONS, required: 'mutations must contain at least one item' },
  ),
  failurePolicy,
  matchConditions,
  reinvocationPolicy: s.enum(
    ['IfNeeded', 'Never'],
    'Whether the policy is evaluated a second time when the object was changed after it: Never or IfNeeded. Required.',
    { required: true },
  ),
};

const specOf = <const F extends Fields>(own: F) =>
  s.struct('MutatingAdmissionPolicySpec', 'Desired behavior of the policy.', own, { rules: [mutationsCompile] });
const fields = { spec: specOf(spec) };

/** Variables whose fields are owned one by one, as in v1alpha1. */
const alphaSpec = {
  ...spec,
  variables: s.list(s.use(Variable, { atomic: false }), spec.variables.description!, {
    maxItems: MAX_EXPRESSIONS,
    rules: [unique('name')],
  }),
};

export type MutatingAdmissionPolicy = KubeObject & ObjectType<typeof fields>;

/** Expressions that change the written object. */
export const MutatingAdmissionPolicy = defineKind({
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
      fields: { spec: specOf(alphaSpec) },
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
