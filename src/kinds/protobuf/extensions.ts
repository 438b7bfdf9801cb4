import type { FieldNumbers } from './field-numbers.ts';

export const extensions: FieldNumbers = {
  'extensions/v1beta1': {
    DaemonSet: 'metadata spec status',
    DaemonSetCondition: 'type status lastTransitionTime reason message',
    DaemonSetSpec: 'selector template updateStrategy minReadySeconds templateGeneration revisionHistoryLimit?',
    DaemonSetStatus:
      'currentNumberScheduled numberMisscheduled desiredNumberScheduled numberReady observedGeneration updatedNumberScheduled numberAvailable numberUnavailable collisionCount? conditions',
    DaemonSetUpdateStrategy: 'type rollingUpdate',
    Deployment: 'metadata spec status',
    DeploymentCondition: 'type status 4:reason message lastUpdateTime lastTransitionTime',
    DeploymentRollback: 'name updatedAnnotations rollbackTo',
    DeploymentSpec:
      'replicas? selector template strategy minReadySeconds revisionHistoryLimit? paused rollbackTo progressDeadlineSeconds?',
    DeploymentStatus:
      'observedGeneration replicas updatedReplicas availableReplicas unavailableReplicas conditions readyReplicas collisionCount? terminatingReplicas?',
    DeploymentStrategy: 'type rollingUpdate',
    ReplicaSet: 'metadata spec status',
    ReplicaSetCondition: 'type status lastTransitionTime reason message',
    ReplicaSetSpec: 'replicas? selector template minReadySeconds',
    ReplicaSetStatus:
      'replicas fullyLabeledReplicas observedGeneration readyReplicas availableReplicas conditions terminatingReplicas?',
    RollbackConfig: 'revision',
    RollingUpdateDaemonSet: 'maxUnavailable maxSurge',
    RollingUpdateDeployment: 'maxUnavailable maxSurge',
    Scale: 'metadata spec status',
    ScaleSpec: 'replicas',
    ScaleStatus: 'replicas selector targetSelector',
  },
};
