import type { FieldNumbers } from './field-numbers.ts';

const shapes = {
  APIService: 'metadata spec status',
  APIServiceCondition: 'type status lastTransitionTime reason message',
  APIServiceSpec: 'service group version insecureSkipTLSVerify caBundle 7:groupPriorityMinimum versionPriority',
  APIServiceStatus: 'conditions',
  ServiceReference: 'namespace name port?',
};

export const apiregistration: FieldNumbers = {
  'apiregistration.k8s.io/v1': shapes,
  'apiregistration.k8s.io/v1beta1': shapes,
};
