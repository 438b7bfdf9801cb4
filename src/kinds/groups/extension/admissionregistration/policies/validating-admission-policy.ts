import { s } from '../../../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../../../schema/field-error.ts';
import { qualifiedName } from '../../../../../schema/names.ts';
import { unique } from '../../../../../schema/rules.ts';
import type { ObjectType, TypeOf } from '../../../../../schema/schema.ts';
import { age, name } from '../../../../columns/column.ts';
import { defineKind, type KubeObject } from '../../../../kind.ts';
import { Condition, completeConditions } from '../../../../shapes/meta/condition.ts';
import { matchConditions } from '../match-condition.ts';
import { validationsCompile } from './expression-rules.ts';
import { paramKind, paramKindCell } from './params.ts';
import { failurePolicy, MAX_EXPRESSIONS, matchConstraints } from './policy-fields.ts';
import { Variable } from './variable.ts';

const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;

const Validation = s.object(
  'Validation',
  'An expression that must be true, and what clients are told when it is not.',
  {
    expression: s.string(
      'CEL expression that is true when the request is valid. It may use object, oldObject, request, params, namespaceObject, ' +
        'variables, authorizer and authorizer.requestResource. Required.',
      { zero: true, required: 'expression is not specified', rules: [isNotBlank] },
    ),
    message: s.string('Message for the client when the expression is false, in one line. Defaults to the expression.', {
      omitZero: true,
      rules: [messageIsOneLine],
    }),
    reason: s.enum(
      ['Forbidden', 'Invalid', 'RequestEntityTooLarge'],
      'Reason and HTTP code of the response when this is the first validation that fails: Forbidden, Invalid or ' +
        'RequestEntityTooLarge. Defaults to Invalid.',
    ),
    messageExpression: s.string(
      'CEL expression for the message, a string in one line of at most 5 KiB. It may use what expression may use, except ' +
        'authorizer. When it fails, message is used.',
      { omitZero: true, rules: [isEmptyOrText] },
    ),
  },
);

const AuditAnnotation = s.object('AuditAnnotation', 'An annotation for the audit events of requests.', {
  key: s.string(
    'Key of the annotation, unique in the list; the name of the policy and a slash are put before it. At most 63 characters. ' +
      'Required.',
    { zero: true },
  ),
  valueExpression: s.string(
    'CEL expression for the value, a string or null; for null there is no annotation. At most 5 KiB; values are cut off at 10 ' +
      'KiB. Required.',
    { zero: true, required: 'valueExpression is not specified', rules: [valueExpressionIsValid] },
  ),
});
type AuditAnnotation = TypeOf<typeof AuditAnnotation>;

const spec = {
  paramKind,
  matchConstraints,
  validations: s.list(
    Validation,
    'Expressions that must be true, at most 250. At least one validation or audit annotation is required.',
    { maxItems: MAX_EXPRESSIONS },
  ),
  failurePolicy,
  auditAnnotations: s.list(AuditAnnotation, 'Annotations that are added to the audit events of requests; at most 20.', {
    rules: [unique('key'), notTooMany],
  }),
  matchConditions,
  variables: s.listMap(
    Variable,
    'Named expressions that the other expressions use as variables.NAME, except matchConditions; at most 250.',
    { keys: ['name'], maxItems: MAX_EXPRESSIONS, rules: [unique('name')] },
  ),
};

const ExpressionWarning = s.object('ExpressionWarning', 'What type checking found in an expression.', {
  fieldRef: s.string('Path of the field with the expression, such as spec.validations[0].expression.', {
    zero: true,
    required: true,
  }),
  warning: s.string('What is wrong with the expression, for each of the types that it was checked against.', {
    zero: true,
    required: true,
  }),
});

const status = {
  observedGeneration: s.int64('metadata.generation that was checked. The status is out of date while this is lower.', {
    omitZero: true,
  }),
  typeChecking: s.object('TypeChecking', 'Result of type checking. Present when it is finished.', {
    expressionWarnings: s.list(ExpressionWarning, 'What was found, at most one warning for each expression.'),
  }),
  conditions: s.list(Condition, 'Latest observations of the state of the policy, at most one per type.', {
    list: 'map',
    keys: ['type'],
    rules: [completeConditions],
  }),
};

const fields = {
  spec: s.struct('ValidatingAdmissionPolicySpec', 'Desired behavior of the policy.', spec, {
    rules: [hasExpressions, validationsCompile],
  }),
  status: s.object('ValidatingAdmissionPolicyStatus', 'Result of type checking, written by a controller.', status),
};
export type ValidatingAdmissionPolicy = KubeObject & ObjectType<typeof fields>;

/** Expressions that reject writes. */
export const ValidatingAdmissionPolicy = defineKind({
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  categories: ['api-extensions'],
  scope: 'Cluster',
  description:
    'CEL expressions that must be true for a write to be accepted. A policy has effect where a ValidatingAdmissionPolicyBinding names it.',
  versions: { 'admissionregistration.k8s.io/v1': {} },
  fields,
  subresources: { status: true },
  generation: true,
  rules: [annotationKeysAreValid],
  columns: ({ text, integer }) => [
    name,
    integer('Validations', 'Number of validations in the policy.', (policy) => policy.spec?.validations?.length),
    text('ParamKind', 'Kind of the objects that parameterize the policy.', (policy) =>
      paramKindCell(policy.spec?.paramKind),
    ),
    age,
  ],
});

function hasExpressions({ validations = [], auditAnnotations = [] }: ObjectType<typeof spec>): FieldError[] {
  if (validations.length > 0 || auditAnnotations.length > 0) return [];
  const detail = 'validations or auditAnnotations must contain at least one item';
  return [required('validations', detail), required('auditAnnotations', detail)];
}

function isNotBlank(expression: string): FieldError | undefined {
  return expression !== '' && expression.trim() === '' ? required('', 'expression is not specified') : undefined;
}

function isEmptyOrText(text: string): FieldError | undefined {
  return text !== '' && text.trim() === '' ? invalid('', text, 'must be non-empty if specified') : undefined;
}

function messageIsOneLine(message: string): FieldError | undefined {
  const blank = isEmptyOrText(message);
  if (blank) return blank;
  return /[\n\r]/.test(message.trim()) ? invalid('', message, 'must not contain line breaks') : undefined;
}

function valueExpressionIsValid(expression: string): FieldError | undefined {
  const trimmed = expression.trim();
  if (trimmed === '') return expression === '' ? undefined : required('', 'valueExpression is not specified');
  if (Buffer.byteLength(trimmed) <= MAX_VALUE_EXPRESSION_BYTES) return undefined;
  return required('', `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`);
}

function notTooMany(annotations: readonly AuditAnnotation[]): FieldError | undefined {
  if (annotations.length <= MAX_AUDIT_ANNOTATIONS) return undefined;
  return invalid('', annotations, `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`);
}

function annotationKeysAreValid({ metadata, spec: { auditAnnotations = [] } }: ValidatingAdmissionPolicy) {
  return auditAnnotations.flatMap(({ key }, index) => {
    const annotation = `${metadata.name}/${key}`;
    const wrong = qualifiedName(annotation).map((problem) => invalid('key', annotation, problem));
    return under(`spec.auditAnnotations[${index}]`, wrong);
  });
}
