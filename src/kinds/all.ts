/** The kinds that a server starts with: the one list. */
import { DaemonSet } from './apps/daemon-set.ts';
import { Deployment } from './apps/deployment.ts';
import { ReplicaSet } from './apps/replica-set.ts';
import { HorizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.ts';
import { CronJob } from './batch/cron-job.ts';
import { Job } from './batch/job.ts';
import { Lease } from './coordination/lease.ts';
import { Binding } from './core/binding.ts';
import { ConfigMap } from './core/config-map.ts';
import { Endpoints } from './core/endpoints.ts';
import { Event } from './core/event.ts';
import { Namespace } from './core/namespace.ts';
import { Node } from './core/node.ts';
import { PersistentVolume } from './core/persistent-volume.ts';
import { PersistentVolumeClaim } from './core/persistent-volume-claim.ts';
import { Pod } from './core/pod.ts';
import { ReplicationController } from './core/replication-controller.ts';
import { Secret } from './core/secret.ts';
import { Service } from './core/service.ts';
import { ServiceAccount } from './core/service-account.ts';
import type { Kind } from './kind.ts';

export const allKinds: readonly Kind[] = [
  Binding,
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  Secret,
  Service,
  ServiceAccount,
  DaemonSet,
  Deployment,
  ReplicaSet,
  HorizontalPodAutoscaler,
  CronJob,
  Job,
  Lease,
];
