/** Which context of the client configuration leads to a member of the federation. */
import { CLUSTER_CONTEXT } from '../../../federation/tool/member-objects.ts';
import type { Cluster } from '../../../kinds/groups/federation/cluster.ts';
import type { ClusterAccess, Contexts } from './contexts.ts';

/** Opens the context that the cluster has joined with, or else that of its name; undefined when neither is there. */
export async function openMemberContext(
  contexts: Contexts,
  { metadata: { name, annotations } }: { readonly metadata: Pick<Cluster['metadata'], 'name' | 'annotations'> },
): Promise<ClusterAccess | undefined> {
  const candidates = [annotations?.[CLUSTER_CONTEXT], name];
  const context = candidates.find((each) => each !== undefined && contexts.config.contexts.has(each));
  return context === undefined ? undefined : contexts.open(context, 'the context of the cluster');
}
