import { admissionregistration } from './admissionregistration.ts';
import { apps } from './apps.ts';
import { autoscaling } from './autoscaling.ts';
import { core } from './core.ts';
import type { FieldNumbers } from './field-numbers.ts';
import { networking } from './networking.ts';
import { resource } from './resource.ts';

const apiServices: FieldNumbers[string] = {
  APIService: 'metadata spec status',
  APIServiceCondition: 'type status lastTransitionTime reason message',
  APIServiceSpec: 'service group version insecureSkipTLSVerify caBundle 7:groupPriorityMinimum versionPriority',
  APIServiceStatus: 'conditions',
  ServiceReference: 'namespace name port?',
};

const disruptionBudgets: FieldNumbers[string] = {
  PodDisruptionBudget: 'metadata spec status',
  PodDisruptionBudgetSpec: 'minAvailable? selector maxUnavailable? unhealthyPodEvictionPolicy?',
  PodDisruptionBudgetStatus:
    'observedGeneration disruptedPods disruptionsAllowed currentHealthy desiredHealthy expectedPods conditions',
};

const roles: FieldNumbers[string] = {
  AggregationRule: 'clusterRoleSelectors',
  ClusterRole: 'metadata rules aggregationRule',
  ClusterRoleBinding: 'metadata subjects roleRef',
  PolicyRule: 'verbs apiGroups resources resourceNames nonResourceURLs',
  Role: 'metadata rules',
  RoleBinding: 'metadata subjects roleRef',
  RoleRef: 'apiGroup kind name',
  Subject: 'kind apiGroup name namespace',
};

/** Groups with many messages have files of their own. */
const all: FieldNumbers = {
  ...admissionregistration,
  ...apps,
  ...autoscaling,
  ...core,
  ...networking,
  ...resource,
  // Shapes that are not messages with fields, such as `JSON`, are read by `src/server/serving/protobuf/json-schemas.ts`.
  'apiextensions.k8s.io/v1': {
    CustomResourceColumnDefinition: 'name type format description priority jsonPath',
    CustomResourceConversion: 'strategy webhook',
    CustomResourceDefinition: 'metadata spec status',
    CustomResourceDefinitionCondition: 'type status lastTransitionTime reason message observedGeneration',
    CustomResourceDefinitionNames: 'plural singular shortNames kind listKind categories',
    CustomResourceDefinitionSpec: 'group 3:names scope 7:versions 9:conversion preserveUnknownFields',
    CustomResourceDefinitionStatus: 'conditions acceptedNames storedVersions observedGeneration',
    CustomResourceDefinitionVersion:
      'name served storage schema subresources additionalPrinterColumns deprecated deprecationWarning? selectableFields',
    CustomResourceSubresourceScale: 'specReplicasPath statusReplicasPath labelSelectorPath?',
    CustomResourceSubresources: 'status scale',
    CustomResourceValidation: 'openAPIV3Schema',
    ExternalDocumentation: 'description url',
    JSONSchemaProps:
      'id $schema $ref? description type format title default? maximum? exclusiveMaximum minimum? exclusiveMinimum maxLength? minLength? pattern maxItems? minItems? uniqueItems multipleOf? enum maxProperties? minProperties? required items allOf oneOf anyOf not properties additionalProperties? patternProperties dependencies additionalItems? definitions externalDocs example? nullable x-kubernetes-preserve-unknown-fields? x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type? x-kubernetes-map-type? x-kubernetes-validations',
    SelectableField: 'jsonPath',
    ServiceReference: 'namespace name path? port?',
    ValidationRule: 'rule message messageExpression reason? fieldPath optionalOldSelf?',
    WebhookClientConfig: 'service caBundle url?',
    WebhookConversion: '2:clientConfig conversionReviewVersions',
  },
  'apiregistration.k8s.io/v1': apiServices,
  'apiregistration.k8s.io/v1beta1': apiServices,
  'authentication.k8s.io/v1': {
    BoundObjectReference: 'kind apiVersion name uid',
    SelfSubjectReview: 'metadata status',
    SelfSubjectReviewStatus: 'userInfo',
    TokenRequest: 'metadata spec status',
    TokenRequestSpec: 'audiences 3:boundObjectRef expirationSeconds?',
    TokenRequestStatus: 'token expirationTimestamp',
    TokenReview: 'metadata spec status',
    TokenReviewSpec: 'token audiences',
    TokenReviewStatus: 'authenticated user error audiences',
    UserInfo: 'username uid groups extra',
  },
  'authorization.k8s.io/v1': {
    FieldSelectorAttributes: 'rawSelector requirements',
    LabelSelectorAttributes: 'rawSelector requirements',
    LocalSubjectAccessReview: 'metadata spec status',
    NonResourceAttributes: 'path verb',
    NonResourceRule: 'verbs nonResourceURLs',
    ResourceAttributes: 'namespace verb group version resource subresource name fieldSelector labelSelector',
    ResourceRule: 'verbs apiGroups resources resourceNames',
    SelfSubjectAccessReview: 'metadata spec status',
    SelfSubjectAccessReviewSpec: 'resourceAttributes nonResourceAttributes',
    SelfSubjectRulesReview: 'metadata spec status',
    SelfSubjectRulesReviewSpec: 'namespace',
    SubjectAccessReview: 'metadata spec status',
    SubjectAccessReviewSpec: 'resourceAttributes nonResourceAttributes user groups extra uid',
    SubjectAccessReviewStatus: 'allowed reason evaluationError denied',
    SubjectRulesReviewStatus: 'resourceRules nonResourceRules incomplete evaluationError',
  },
  'batch/v1': {
    CronJob: 'metadata spec status',
    CronJobSpec:
      'schedule startingDeadlineSeconds? concurrencyPolicy suspend? jobTemplate successfulJobsHistoryLimit? failedJobsHistoryLimit? timeZone?',
    CronJobStatus: 'active 4:lastScheduleTime lastSuccessfulTime',
    Job: 'metadata spec status',
    JobCondition: 'type status lastProbeTime lastTransitionTime reason message',
    JobSpec:
      'parallelism? completions? activeDeadlineSeconds? selector manualSelector? template backoffLimit? ttlSecondsAfterFinished? completionMode? suspend? podFailurePolicy backoffLimitPerIndex? maxFailedIndexes? podReplacementPolicy? managedBy? successPolicy',
    JobStatus:
      'conditions startTime completionTime active succeeded failed completedIndexes uncountedTerminatedPods ready? failedIndexes? terminating?',
    JobTemplateSpec: 'metadata spec',
    PodFailurePolicy: 'rules',
    PodFailurePolicyOnExitCodesRequirement: 'containerName? operator values',
    PodFailurePolicyOnPodConditionsPattern: 'type status',
    PodFailurePolicyRule: 'action onExitCodes onPodConditions',
    SuccessPolicy: 'rules',
    SuccessPolicyRule: 'succeededIndexes? succeededCount?',
    UncountedTerminatedPods: 'succeeded failed',
  },
  'batch/v1beta1': {
    CronJob: 'metadata spec status',
    CronJobSpec:
      'schedule startingDeadlineSeconds? concurrencyPolicy suspend? jobTemplate successfulJobsHistoryLimit? failedJobsHistoryLimit? timeZone?',
    CronJobStatus: 'active 4:lastScheduleTime lastSuccessfulTime',
    JobTemplateSpec: 'metadata spec',
  },
  'certificates.k8s.io/v1': {
    CertificateSigningRequest: 'metadata spec status',
    CertificateSigningRequestCondition: 'type reason message lastUpdateTime lastTransitionTime status',
    CertificateSigningRequestSpec: 'request username uid groups usages extra signerName expirationSeconds?',
    CertificateSigningRequestStatus: 'conditions certificate',
  },
  'certificates.k8s.io/v1beta1': {
    ClusterTrustBundle: 'metadata spec',
    ClusterTrustBundleSpec: 'signerName trustBundle',
  },
  'coordination.k8s.io/v1': {
    Lease: 'metadata spec',
    LeaseSpec:
      'holderIdentity? leaseDurationSeconds? acquireTime renewTime leaseTransitions? strategy? preferredHolder?',
  },
  'coordination.k8s.io/v1beta1': {
    LeaseCandidate: 'metadata spec',
    LeaseCandidateSpec: 'leaseName pingTime renewTime binaryVersion emulationVersion strategy',
  },
  'discovery.k8s.io/v1': {
    Endpoint: 'addresses conditions hostname? targetRef deprecatedTopology nodeName? zone? hints',
    EndpointConditions: 'ready? serving? terminating?',
    EndpointHints: 'forZones forNodes',
    EndpointPort: 'name? protocol? port? appProtocol?',
    EndpointSlice: 'metadata endpoints ports addressType',
    ForNode: 'name',
    ForZone: 'name',
  },
  'events.k8s.io/v1': {
    Event:
      'metadata eventTime series reportingController reportingInstance action reason regarding related note type deprecatedSource deprecatedFirstTimestamp deprecatedLastTimestamp deprecatedCount',
    EventSeries: 'count lastObservedTime',
  },
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
  'meta/v1': {
    Condition: 'type status observedGeneration lastTransitionTime reason message',
    DeleteOptions:
      'gracePeriodSeconds? preconditions orphanDependents? propagationPolicy? dryRun ignoreStoreReadErrorWithClusterBreakingPotential?',
    FieldSelectorRequirement: 'key operator values',
    GroupResource: 'group resource',
    LabelSelector: 'matchLabels matchExpressions',
    LabelSelectorRequirement: 'key operator values',
    ListMeta: 'selfLink resourceVersion continue remainingItemCount? shardInfo',
    ManagedFieldsEntry: 'manager operation apiVersion time 6:fieldsType fieldsV1 subresource',
    ObjectMeta:
      'name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds? labels annotations ownerReferences finalizers 17:managedFields',
    OwnerReference: 'kind 3:name uid apiVersion controller? blockOwnerDeletion?',
    Preconditions: 'uid? resourceVersion?',
    ShardInfo: 'selector',
    Status: 'metadata status message reason details code',
    StatusCause: 'reason message field',
    StatusDetails: 'name group kind causes retryAfterSeconds uid',
  },
  'node.k8s.io/v1': {
    Overhead: 'podFixed',
    RuntimeClass: 'metadata handler overhead scheduling',
    Scheduling: 'nodeSelector tolerations',
  },
  'policy/v1': { Eviction: 'metadata deleteOptions', ...disruptionBudgets },
  'policy/v1beta1': disruptionBudgets,
  'rbac.authorization.k8s.io/v1': roles,
  'rbac.authorization.k8s.io/v1beta1': roles,
  'scheduling.k8s.io/v1': {
    PriorityClass: 'metadata value globalDefault description preemptionPolicy?',
  },
  'storage.k8s.io/v1': {
    CSIDriver: 'metadata spec',
    CSIDriverSpec:
      'attachRequired? podInfoOnMount? volumeLifecycleModes storageCapacity? fsGroupPolicy? tokenRequests requiresRepublish? seLinuxMount? nodeAllocatableUpdatePeriodSeconds? serviceAccountTokenInSecrets? preventPodSchedulingIfMissing?',
    CSINode: 'metadata spec',
    CSINodeDriver: 'name nodeID topologyKeys allocatable',
    CSINodeSpec: 'drivers',
    CSIStorageCapacity: 'metadata nodeTopology storageClassName capacity maximumVolumeSize',
    StorageClass:
      'metadata provisioner parameters reclaimPolicy? mountOptions allowVolumeExpansion? volumeBindingMode? allowedTopologies',
    TokenRequest: 'audience expirationSeconds?',
    VolumeAttachment: 'metadata spec status',
    VolumeAttachmentSource: 'persistentVolumeName? inlineVolumeSpec',
    VolumeAttachmentSpec: 'attacher source nodeName',
    VolumeAttachmentStatus: 'attached attachmentMetadata attachError detachError',
    VolumeAttributesClass: 'metadata driverName parameters',
    VolumeError: 'time message errorCode?',
    VolumeNodeResources: 'count?',
  },
  'storagemigration.k8s.io/v1beta1': {
    StorageVersionMigration: 'metadata spec status',
    StorageVersionMigrationSpec: 'resource',
    StorageVersionMigrationStatus: 'conditions resourceVersion',
  },
};

/** The numbered fields of a shape that belongs to a version (`apps/v1`, `meta/v1`), in the form of field-numbers.ts. */
export function fieldNumbers(home: string, shape: string): string | undefined {
  return all[home]?.[shape];
}
