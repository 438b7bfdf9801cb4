/** Annotation of a node that names the network of its pods. */

export const POD_NETWORK_ANNOTATION = 'node.kubernetes.io/pod-network';

const POD_NETWORKS = ['cluster', 'external', 'node'] as const;

/**
 * Source of pod addresses. `cluster`: the range of the node (`spec.podCIDRs`). `external`: a network that another
 * program has configured. `node`: pods share the network of the node, and so have its addresses and ports.
 */
export type PodNetwork = (typeof POD_NETWORKS)[number];

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
}

/** Returns the network of a node's pods. Without the annotation, it is that of the cluster. */
export function podNetworkOf({ metadata }: Annotated): PodNetwork {
  const value = metadata.annotations?.[POD_NETWORK_ANNOTATION];
  return POD_NETWORKS.find((each) => each === value) ?? 'cluster';
}
