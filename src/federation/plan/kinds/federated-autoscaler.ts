/** Divides a federated HorizontalPodAutoscaler: the autoscalers of all members together keep within its bounds. */
import { HorizontalPodAutoscaler } from '../../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { AUTOSCALER_PREFERENCES } from '../names.ts';
import { countIn, type FederatedKind, sums } from './federated-kind.ts';

/** The maximum is divided as replicas are, and the minimum in proportion to it; a cluster without a share gets no autoscaler. */
export const federatedAutoscaler: FederatedKind = {
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
