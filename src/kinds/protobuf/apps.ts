/** The kinds of `apps`, of which `extensions` had some first. Between versions they differ in a field here and there. */
import type { FieldNumbers } from './field-numbers.ts';

type Shapes = FieldNumbers[string];

const deployment: Shapes = {
  Deployment: 'metadata spec status',
  DeploymentCondition: 'type status 4:reason message lastUpdateTime lastTransitionTime',
  DeploymentSpec:
    'replicas? selector template strategy minReadySeconds revisionHistoryLimit? paused 9:progressDeadlineSeconds?',
  DeploymentStatus:
    'observedGeneration replicas updatedReplicas availableReplicas unavailableReplicas conditions readyReplicas collisionCount? terminatingReplicas?',
  DeploymentStrategy: 'type rollingUpdate',
  RollingUpdateDeployment: 'maxUnavailable? maxSurge?',
};

/** Deployment in versions that support rollback. */
const rollbackDeployment: Shapes = {
  ...deployment,
  DeploymentRollback: 'name updatedAnnotations rollbackTo',
  DeploymentSpec:
    'replicas? selector template strategy minReadySeconds revisionHistoryLimit? paused rollbackTo progressDeadlineSeconds?',
  RollbackConfig: 'revision',
};

const daemonSet: Shapes = {
  DaemonSet: 'metadata spec status',
  DaemonSetCondition: 'type status lastTransitionTime reason message',
  DaemonSetSpec: 'selector template updateStrategy minReadySeconds 6:revisionHistoryLimit?',
  DaemonSetStatus:
    'currentNumberScheduled numberMisscheduled desiredNumberScheduled numberReady observedGeneration updatedNumberScheduled numberAvailable numberUnavailable collisionCount? conditions',
  DaemonSetUpdateStrategy: 'type rollingUpdate',
  RollingUpdateDaemonSet: 'maxUnavailable? maxSurge?',
};

const replicaSet: Shapes = {
  ReplicaSet: 'metadata spec status',
  ReplicaSetCondition: 'type status lastTransitionTime reason message',
  ReplicaSetSpec: 'replicas? selector template minReadySeconds',
  ReplicaSetStatus:
    'replicas fullyLabeledReplicas observedGeneration readyReplicas availableReplicas conditions terminatingReplicas?',
};

const statefulSet: Shapes = {
  ControllerRevision: 'metadata data revision',
  RollingUpdateStatefulSetStrategy: 'partition? maxUnavailable?',
  StatefulSet: 'metadata spec status',
  StatefulSetCondition: 'type status lastTransitionTime reason message',
  StatefulSetOrdinals: 'start',
  StatefulSetPersistentVolumeClaimRetentionPolicy: 'whenDeleted whenScaled',
  StatefulSetSpec:
    'replicas? selector template volumeClaimTemplates serviceName podManagementPolicy updateStrategy revisionHistoryLimit? minReadySeconds persistentVolumeClaimRetentionPolicy ordinals',
  StatefulSetStatus:
    'observedGeneration replicas readyReplicas currentReplicas updatedReplicas currentRevision updateRevision 9:collisionCount? conditions availableReplicas',
  StatefulSetUpdateStrategy: 'type rollingUpdate',
};

const scale: Shapes = {
  Scale: 'metadata spec status',
  ScaleSpec: 'replicas',
  ScaleStatus: 'replicas selector targetSelector',
};

const v1: Shapes = { ...daemonSet, ...deployment, ...replicaSet, ...statefulSet };

export const apps: FieldNumbers = {
  'apps/v1': v1,
  'apps/v1beta1': {
    ...rollbackDeployment,
    ...statefulSet,
    StatefulSetStatus:
      'observedGeneration? replicas readyReplicas currentReplicas updatedReplicas currentRevision updateRevision 9:collisionCount? conditions availableReplicas',
    ...scale,
  },
  'apps/v1beta2': { ...v1, ...scale },
  'extensions/v1beta1': {
    ...daemonSet,
    DaemonSetSpec: 'selector template updateStrategy minReadySeconds templateGeneration revisionHistoryLimit?',
    ...rollbackDeployment,
    ...replicaSet,
    ...scale,
  },
};
