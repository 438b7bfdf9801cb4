/** The kinds that are propagated to members: the one list. */
import type { AnyObject, DeepReadonly } from '../../../api/object-types.ts';
import { DaemonSet } from '../../../kinds/groups/apps/daemon-set.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { HorizontalPodAutoscaler } from '../../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { Ingress } from '../../../kinds/groups/networking/ingress.ts';
import { AUTOSCALER_PREFERENCES, DEPLOYMENT_PREFERENCES, REPLICA_SET_PREFERENCES } from '../names.ts';
import { federatedJob } from './federated-job.ts';
import { countIn, type FederatedKind, gatherLoadBalancers, sums } from './federated-kind.ts';

/** The maximum is divided as replicas are, and the minimum in proportion to it; a cluster without a share gets no autoscaler. */
const federatedAutoscaler: FederatedKind = {
  kind: HorizontalPodAutoscaler,
  replicas: {
    annotation: AUTOSCALER_PREFERENCES,
    of: ({ spec }) => countIn(spec?.maxReplicas, 1),
    set({ spec }, share, { before }) {
      const { minReplicas = 1, maxReplicas = 1 } = spec;
      const upTo = (count: number) => Math.floor((minReplicas * count) / maxReplicas);
      // An autoscaler has at least one pod.
      spec.minReplicas = Math.max(1, upTo(before + share) - upTo(before));
      spec.maxReplicas = Math.max(1, share);
    },
    removesEmpty: true,
  },
  gather: (members, { metadata }) => ({
    currentReplicas: 0,
    desiredReplicas: 0,
    ...sums(members, ['currentReplicas', 'desiredReplicas']),
    observedGeneration: metadata.generation,
  }),
};

/** Fields of a service that each cluster allocates. */
const ALLOCATED = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'healthCheckNodePort'] as const;

/** Federated kinds in the order of creation: kinds that others need come first. */
export const federatedKinds: readonly FederatedKind[] = [
  {
    kind: Namespace,
    localize(desired, actual) {
      // Finalizers and phase are each cluster's own.
      if (actual?.spec) desired.spec = actual.spec as AnyObject;
      else delete desired.spec;
    },
  },
  { kind: ConfigMap },
  { kind: Secret },
  { kind: Service, localize: localizeService, gather: gatherLoadBalancers },
  { kind: Ingress, gather: gatherLoadBalancers },
  {
    kind: Deployment,
    replicas: replicasIn(DEPLOYMENT_PREFERENCES),
    gather: gatherCounts('replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'),
  },
  {
    kind: ReplicaSet,
    replicas: replicasIn(REPLICA_SET_PREFERENCES),
    gather: gatherCounts('replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'),
  },
  {
    kind: DaemonSet,
    gather: gatherCounts(
      ...['currentNumberScheduled', 'desiredNumberScheduled', 'numberMisscheduled', 'numberReady'],
      ...['numberAvailable', 'numberUnavailable', 'updatedNumberScheduled'],
    ),
  },
  federatedJob,
  federatedAutoscaler,
];

function replicasIn(annotation: string): NonNullable<FederatedKind['replicas']> {
  return {
    annotation,
    of: ({ spec }) => countIn(spec?.replicas, 1),
    set: (desired, replicas) => {
      desired.spec.replicas = replicas;
    },
  };
}

/** Sums of the members' counts, for the present state of the federated object. */
function gatherCounts(...fields: readonly string[]): FederatedKind['gather'] {
  return (members, { metadata }) => ({ ...sums(members, fields), observedGeneration: metadata.generation });
}

function localizeService({ spec }: AnyObject, actual: DeepReadonly<AnyObject> | undefined): void {
  const isHeadless = spec.clusterIP === 'None';
  for (const field of ALLOCATED) {
    if (isHeadless && (field === 'clusterIP' || field === 'clusterIPs')) continue;
    if (actual?.spec?.[field] === undefined) delete spec[field];
    else spec[field] = actual.spec[field];
  }
  for (const port of spec.ports ?? []) {
    const { nodePort } =
      actual?.spec?.ports?.find((each: AnyObject) => each.port === port.port && each.protocol === port.protocol) ?? {};
    if (nodePort === undefined) delete port.nodePort;
    else port.nodePort = nodePort;
  }
}
