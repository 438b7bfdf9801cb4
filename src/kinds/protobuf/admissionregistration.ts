import type { FieldNumbers } from './field-numbers.ts';

export const admissionregistration: FieldNumbers = {
  'admissionregistration.k8s.io/v1': {
    MatchCondition: 'name expression',
    MutatingWebhook:
      'name clientConfig rules failurePolicy? namespaceSelector sideEffects? timeoutSeconds? admissionReviewVersions matchPolicy? reinvocationPolicy? objectSelector matchConditions',
    MutatingWebhookConfiguration: 'metadata webhooks',
    Rule: 'apiGroups apiVersions resources scope?',
    RuleWithOperations: 'operations .Rule',
    ServiceReference: 'namespace name path? port?',
    ValidatingWebhook:
      'name clientConfig rules failurePolicy? namespaceSelector sideEffects? timeoutSeconds? admissionReviewVersions matchPolicy? objectSelector matchConditions',
    ValidatingWebhookConfiguration: 'metadata webhooks',
    WebhookClientConfig: 'service caBundle url?',
  },
};
