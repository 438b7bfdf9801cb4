/** What is true of the owners that an object names. */
import { isApiError } from '../../../base/errors.ts';
import type { Client } from '../../../client/client.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import {
  type GraphNode,
  isNamedBy,
  isWaiting,
  nodeOf,
  type OwnerGraph,
  type OwnerReference,
  placeOf,
} from './owner-graph.ts';

/**
 * `present`: it exists. `waiting`: it exists, and waits for its dependents to go. `absent`: no such object exists, and
 * none will. `unknown`: its kind is not served, or cannot own such an object.
 */
type OwnerState = 'present' | 'waiting' | 'absent' | 'unknown';

export interface JudgedOwner {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
  /** The owner exists, but in another namespace, where it cannot own the object. */
  readonly isElsewhere: boolean;
}

interface Look {
  readonly graph: OwnerGraph;
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
}

/** Owners that the graph does not show are asked for on the server: a cache that lags behind must cost nobody a pod. */
export async function judgeOwners(node: GraphNode, look: Look): Promise<readonly JudgedOwner[]> {
  const out: JudgedOwner[] = [];
  for (const reference of node.owners) {
    const known = look.graph.get(reference.uid);
    const isElsewhere = known !== undefined && known.namespace !== '' && known.namespace !== node.namespace;
    const isKnown = known !== undefined && isNamedBy(known, reference, node);
    const state = isKnown ? stateOf(known) : await find(reference, node, look);
    out.push({ reference, state, isElsewhere });
  }
  return out;
}

const stateOf = (owner: GraphNode): OwnerState => (isWaiting(owner) ? 'waiting' : 'present');

async function find(reference: OwnerReference, node: GraphNode, look: Look): Promise<OwnerState> {
  const kind = look.kindOf(reference.apiVersion, reference.kind);
  if (!kind || (kind.scope === 'Namespaced' && !node.namespace)) return 'unknown';
  const { name, uid } = reference;
  const namespace = kind.scope === 'Namespaced' ? node.namespace : '';
  const place = placeOf({ kind, uid, namespace, name });
  if (look.graph.isGone(place)) return 'absent';
  const found = await get(kind, { namespace, name }, look);
  if (found?.metadata.uid === uid) return stateOf(nodeOf(kind, found));
  look.graph.markGone(place);
  return 'absent';
}

async function get(kind: Kind, at: { namespace: string; name: string }, { client, signal }: Look) {
  try {
    return await client
      .of<KubeObject>(kind)
      .in(at.namespace || undefined)
      .get(at.name, { signal });
  } catch (error) {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  }
}
