import type { FieldNumbers } from './field-numbers.ts';

export const flowcontrol: FieldNumbers = {
  'flowcontrol.apiserver.k8s.io/v1': {
    ExemptPriorityLevelConfiguration: 'nominalConcurrencyShares? lendablePercent?',
    FlowDistinguisherMethod: 'type',
    FlowSchema: 'metadata spec status',
    FlowSchemaCondition: 'type status lastTransitionTime reason message',
    FlowSchemaSpec: 'priorityLevelConfiguration matchingPrecedence distinguisherMethod rules',
    FlowSchemaStatus: 'conditions',
    GroupSubject: 'name',
    LimitResponse: 'type queuing',
    LimitedPriorityLevelConfiguration:
      'nominalConcurrencyShares? limitResponse lendablePercent? borrowingLimitPercent?',
    NonResourcePolicyRule: 'verbs 6:nonResourceURLs',
    PolicyRulesWithSubjects: 'subjects resourceRules nonResourceRules',
    PriorityLevelConfiguration: 'metadata spec status',
    PriorityLevelConfigurationCondition: 'type status lastTransitionTime reason message',
    PriorityLevelConfigurationReference: 'name',
    PriorityLevelConfigurationSpec: 'type limited exempt',
    PriorityLevelConfigurationStatus: 'conditions',
    QueuingConfiguration: 'queues handSize queueLengthLimit',
    ResourcePolicyRule: 'verbs apiGroups resources clusterScope namespaces',
    ServiceAccountSubject: 'namespace name',
    Subject: 'kind user group serviceAccount',
    UserSubject: 'name',
  },
};
