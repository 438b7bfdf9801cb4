import type { FieldNumbers } from './field-numbers.ts';

export const apps: FieldNumbers = {
  'apps/v1': {
    ControllerRevision: 'metadata data revision',
    DaemonSet: 'metadata spec status',
    DaemonSetCondition: 'type status lastTransitionTime reason message',
    DaemonSetSpec: 'selector template updateStrategy minReadySeconds 6:revisionHistoryLimit?',
    DaemonSetStatus:
      'currentNumberScheduled numberMisscheduled desiredNumberScheduled numberReady observedGeneration updatedNumberScheduled numberAvailable numberUnavailable collisionCount? conditions',
    DaemonSetUpdateStrategy: 'type rollingUpdate',
    Deployment: 'metadata spec status',
    DeploymentCondition: 'type status 4:reason message lastUpdateTime lastTransitionTime',
    DeploymentSpec:
      'replicas? selector template strategy minReadySeconds revisionHistoryLimit? paused 9:progressDeadlineSeconds?',
    DeploymentStatus:
      'observedGeneration replicas updatedReplicas availableReplicas unavailableReplicas conditions readyReplicas collisionCount? terminatingReplicas?',
    DeploymentStrategy: 'type rollingUpdate',
    ReplicaSet: 'metadata spec status',
    ReplicaSetCondition: 'type status lastTransitionTime reason message',
    ReplicaSetSpec: 'replicas? selector template minReadySeconds',
    ReplicaSetStatus:
      'replicas fullyLabeledReplicas observedGeneration readyReplicas availableReplicas conditions terminatingReplicas?',
    RollingUpdateDaemonSet: 'maxUnavailable maxSurge',
    RollingUpdateDeployment: 'maxUnavailable maxSurge',
    RollingUpdateStatefulSetStrategy: 'partition? maxUnavailable',
    StatefulSet: 'metadata spec status',
    StatefulSetCondition: 'type status lastTransitionTime reason message',
    StatefulSetOrdinals: 'start',
    StatefulSetPersistentVolumeClaimRetentionPolicy: 'whenDeleted whenScaled',
    StatefulSetSpec:
      'replicas? selector template volumeClaimTemplates serviceName podManagementPolicy updateStrategy revisionHistoryLimit? minReadySeconds persistentVolumeClaimRetentionPolicy ordinals',
    StatefulSetStatus:
      'observedGeneration replicas readyReplicas currentReplicas updatedReplicas currentRevision updateRevision 9:collisionCount? conditions availableReplicas',
    StatefulSetUpdateStrategy: 'type rollingUpdate',
  },
  'apps/v1beta1': {
    ControllerRevision: 'metadata data revision',
    Deployment: 'metadata spec status',
    DeploymentCondition: 'type status 4:reason message lastUpdateTime lastTransitionTime',
    DeploymentRollback: 'name updatedAnnotations rollbackTo',
    DeploymentSpec:
      'replicas? selector template strategy minReadySeconds revisionHistoryLimit? paused rollbackTo progressDeadlineSeconds?',
    DeploymentStatus:
      'observedGeneration replicas updatedReplicas availableReplicas unavailableReplicas conditions readyReplicas collisionCount? terminatingReplicas?',
    DeploymentStrategy: 'type rollingUpdate',
    RollbackConfig: 'revision',
    RollingUpdateDeployment: 'maxUnavailable maxSurge',
    RollingUpdateStatefulSetStrategy: 'partition? maxUnavailable',
    Scale: 'metadata spec status',
    ScaleSpec: 'replicas',
    ScaleStatus: 'replicas selector targetSelector',
    StatefulSet: 'metadata spec status',
    StatefulSetCondition: 'type status lastTransitionTime reason message',
    StatefulSetOrdinals: 'start',
    StatefulSetPersistentVolumeClaimRetentionPolicy: 'whenDeleted whenScaled',
    StatefulSetSpec:
      'replicas? selector template volumeClaimTemplates serviceName podManagementPolicy updateStrategy revisionHistoryLimit? minReadySeconds persistentVolumeClaimRetentionPolicy ordinals',
    StatefulSetStatus:
      'observedGeneration? replicas readyReplicas currentReplicas updatedReplicas currentRevision updateRevision 9:collisionCount? conditions availableReplicas',
    StatefulSetUpdateStrategy: 'type rollingUpdate',
  },
  'apps/v1beta2': {
    ControllerRevision: 'metadata data revision',
    DaemonSet: 'metadata spec status',
    DaemonSetCondition: 'type status lastTransitionTime reason message',
    DaemonSetSpec: 'selector template updateStrategy minReadySeconds 6:revisionHistoryLimit?',
    DaemonSetStatus:
      'currentNumberScheduled numberMisscheduled desiredNumberScheduled numberReady observedGeneration updatedNumberScheduled numberAvailable numberUnavailable collisionCount? conditions',
    DaemonSetUpdateStrategy: 'type rollingUpdate',
    Deployment: 'metadata spec status',
    DeploymentCondition: 'type status 4:reason message lastUpdateTime lastTransitionTime',
    DeploymentSpec:
      'replicas? selector template strategy minReadySeconds revisionHistoryLimit? paused 9:progressDeadlineSeconds?',
    DeploymentStatus:
      'observedGeneration replicas updatedReplicas availableReplicas unavailableReplicas conditions readyReplicas collisionCount? terminatingReplicas?',
    DeploymentStrategy: 'type rollingUpdate',
    ReplicaSet: 'metadata spec status',
    ReplicaSetCondition: 'type status lastTransitionTime reason message',
    ReplicaSetSpec: 'replicas? selector template minReadySeconds',
    ReplicaSetStatus:
      'replicas fullyLabeledReplicas observedGeneration readyReplicas availableReplicas conditions terminatingReplicas?',
    RollingUpdateDaemonSet: 'maxUnavailable maxSurge',
    RollingUpdateDeployment: 'maxUnavailable maxSurge',
    RollingUpdateStatefulSetStrategy: 'partition? maxUnavailable',
    Scale: 'metadata spec status',
    ScaleSpec: 'replicas',
    ScaleStatus: 'replicas selector targetSelector',
    StatefulSet: 'metadata spec status',
    StatefulSetCondition: 'type status lastTransitionTime reason message',
    StatefulSetOrdinals: 'start',
    StatefulSetPersistentVolumeClaimRetentionPolicy: 'whenDeleted whenScaled',
    StatefulSetSpec:
      'replicas? selector template volumeClaimTemplates serviceName podManagementPolicy updateStrategy revisionHistoryLimit? minReadySeconds persistentVolumeClaimRetentionPolicy ordinals',
    StatefulSetStatus:
      'observedGeneration replicas readyReplicas currentReplicas updatedReplicas currentRevision updateRevision 9:collisionCount? conditions availableReplicas',
    StatefulSetUpdateStrategy: 'type rollingUpdate',
  },
};
