/** Determines the state of an object's owners. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { isApiError } from '../../../api/errors.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { ReadTools } from '../../loop/define.ts';
import type { ServedKind } from '../../shared/aggregated-kinds.ts';
import {
  type GraphNode,
  identityKeyOf,
  isNamedBy,
  isWaiting,
  nodeOf,
  type OwnerGraph,
  type OwnerReference,
} from './owner-graph.ts';

/**
 * `present`: it exists. `waiting`: it exists, and waits for its dependents to be deleted. `absent`: no such object exists or
 * ever will. `unknown`: its kind is not served, or cannot own such an object, or another server does not say.
 */
type OwnerState = 'present' | 'waiting' | 'absent' | 'unknown';

export interface OwnerStatus {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
  /** The owner exists in another namespace, where it cannot own the object. */
  readonly isElsewhere: boolean;
  /** True when another server has the owner and its deletion may go unnoticed: it is not in the graph, or not yet. */
  readonly isUnwatched: boolean;
}

interface OwnerLookup extends ReadTools {
  readonly graph: OwnerGraph;
  readonly kindOf: (apiVersion: string, kind: string) => ServedKind | undefined;
}

const OWNERS_PER_TURN = 100;

/** Reads owners missing from the graph from the server: a lagging cache must not cost a pod. */
export async function statusOfOwners(node: GraphNode, lookup: OwnerLookup): Promise<readonly OwnerStatus[]> {
  const out: OwnerStatus[] = [];
  for (const [position, reference] of node.owners.entries()) {
    // Direct calls never leave the turn of the event loop, and there may be very many owners.
    if (position % OWNERS_PER_TURN === OWNERS_PER_TURN - 1) await nextTurn();
    const known = lookup.graph.get(reference.uid);
    const isElsewhere = known !== undefined && known.namespace !== '' && known.namespace !== node.namespace;
    const isKnown = known !== undefined && isNamedBy(known, reference, node);
    const found = isKnown ? { state: stateOf(known), isUnwatched: false } : await find(reference, node, lookup);
    out.push({ reference, isElsewhere, ...found });
  }
  return out;
}

const stateOf = (owner: GraphNode): OwnerState => (isWaiting(owner) ? 'waiting' : 'present');

type Found = Pick<OwnerStatus, 'state' | 'isUnwatched'>;

const UNKNOWN: Found = { state: 'unknown', isUnwatched: false };
const ABSENT: Found = { state: 'absent', isUnwatched: false };

async function find(reference: OwnerReference, node: GraphNode, lookup: OwnerLookup): Promise<Found> {
  const kind = lookup.kindOf(reference.apiVersion, reference.kind);
  if (!kind || (kind.scope === 'Namespaced' && !node.namespace)) return UNKNOWN;
  const { name, uid } = reference;
  const namespace = kind.scope === 'Namespaced' ? node.namespace : '';
  const identityKey = identityKeyOf({ kind, uid, namespace, name });
  if (lookup.graph.isGone(identityKey)) return ABSENT;
  const found = await get(kind, { namespace, name }, lookup);
  if (found === 'unknown') return UNKNOWN;
  if (found?.metadata.uid === uid) {
    return { state: stateOf(nodeOf(kind, found)), isUnwatched: kind.isAggregated === true };
  }
  lookup.graph.markGone(identityKey);
  return ABSENT;
}

/** Reads an object. Another server's answer that it is absent must be about it: dependents are deleted. */
async function get(kind: ServedKind, at: { namespace: string; name: string }, { client, signal }: OwnerLookup) {
  const { isAggregated } = kind;
  try {
    const found = await client
      .of<KubeObject>(kind)
      .in(at.namespace || undefined)
      .get(at.name, { signal });
    return isAggregated && !found.metadata.uid ? 'unknown' : found;
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    return isAggregated && error.details?.name !== at.name ? 'unknown' : undefined;
  }
}
