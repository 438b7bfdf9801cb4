import type { FieldNumbers } from './field-numbers.ts';

/** The messages of mutating policies, the same in every version. */
const mutatingPolicies = {
  ApplyConfiguration: 'expression',
  JSONPatch: 'expression',
  MatchCondition: 'name expression',
  MatchResources: 'namespaceSelector objectSelector resourceRules excludeResourceRules 7:matchPolicy?',
  MutatingAdmissionPolicy: 'metadata spec',
  MutatingAdmissionPolicyBinding: 'metadata spec',
  MutatingAdmissionPolicyBindingSpec: 'policyName paramRef matchResources',
  MutatingAdmissionPolicySpec:
    'paramKind matchConstraints variables mutations failurePolicy? matchConditions reinvocationPolicy',
  Mutation: '2:patchType applyConfiguration jsonPatch',
  NamedRuleWithOperations: 'resourceNames .RuleWithOperations',
  ParamKind: 'apiVersion kind',
  ParamRef: 'name namespace selector parameterNotFoundAction?',
  Rule: 'apiGroups apiVersions resources scope?',
  RuleWithOperations: 'operations .Rule',
  Variable: 'name expression',
};

export const admissionregistration: FieldNumbers = {
  'admissionregistration.k8s.io/v1': {
    ...mutatingPolicies,
    AuditAnnotation: 'key valueExpression',
    ExpressionWarning: '2:fieldRef warning',
    MutatingWebhook:
      'name clientConfig rules failurePolicy? namespaceSelector sideEffects? timeoutSeconds? admissionReviewVersions matchPolicy? reinvocationPolicy? objectSelector matchConditions',
    MutatingWebhookConfiguration: 'metadata webhooks',
    ServiceReference: 'namespace name path? port?',
    TypeChecking: 'expressionWarnings',
    ValidatingAdmissionPolicy: 'metadata spec status',
    ValidatingAdmissionPolicyBinding: 'metadata spec',
    ValidatingAdmissionPolicyBindingSpec: 'policyName paramRef matchResources validationActions',
    ValidatingAdmissionPolicySpec:
      'paramKind matchConstraints validations failurePolicy? auditAnnotations matchConditions variables',
    ValidatingAdmissionPolicyStatus: 'observedGeneration typeChecking conditions',
    Validation: 'expression message reason? messageExpression',
    ValidatingWebhook:
      'name clientConfig rules failurePolicy? namespaceSelector sideEffects? timeoutSeconds? admissionReviewVersions matchPolicy? objectSelector matchConditions',
    ValidatingWebhookConfiguration: 'metadata webhooks',
    WebhookClientConfig: 'service caBundle url?',
  },
  'admissionregistration.k8s.io/v1beta1': mutatingPolicies,
  'admissionregistration.k8s.io/v1alpha1': mutatingPolicies,
};
