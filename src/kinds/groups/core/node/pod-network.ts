/** How a node says where its pods get their addresses from. */

export const POD_NETWORK_ANNOTATION = 'node.kubernetes.io/pod-network';

const POD_NETWORKS = ['cluster', 'external', 'node'] as const;

/**
 * `cluster`: from the range of the node (`spec.podCIDRs`). `external`: from a network that somebody else has configured. `node`: they
 * share the network of the node, and so have its addresses and ports.
 */
export type PodNetwork = (typeof POD_NETWORKS)[number];

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
}

/** Nodes that do not say it have pods on the network of the cluster. */
export function podNetworkOf({ metadata }: Annotated): PodNetwork {
  const value = metadata.annotations?.[POD_NETWORK_ANNOTATION];
  return POD_NETWORKS.find((each) => each === value) ?? 'cluster';
}
