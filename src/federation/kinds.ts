/** The kinds that a federation API server has. */
import { DaemonSet } from '../kinds/groups/apps/daemon-set.ts';
import { Deployment } from '../kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../kinds/groups/apps/replica-set.ts';
import { HorizontalPodAutoscaler } from '../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { Job } from '../kinds/groups/batch/job.ts';
import { ConfigMap } from '../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../kinds/groups/core/configuration/secret.ts';
import { Event } from '../kinds/groups/core/event/event.ts';
import { Namespace } from '../kinds/groups/core/namespace.ts';
import { Service } from '../kinds/groups/core/service/service.ts';
import { Cluster } from '../kinds/groups/federation/cluster.ts';
import { FederatedType } from '../kinds/groups/federation/federated-type.ts';
import { Ingress } from '../kinds/groups/networking/ingress.ts';
import type { Kind } from '../kinds/kind.ts';

export const federationKinds: readonly Kind[] = [
  Cluster,
  FederatedType,
  Namespace,
  ConfigMap,
  Secret,
  Service,
  Event,
  Deployment,
  ReplicaSet,
  DaemonSet,
  Job,
  HorizontalPodAutoscaler,
  Ingress,
];
