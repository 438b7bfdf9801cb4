/**
 * Marks simulated nodes that nothing simulates any more. Their leases are long, and the node lifecycle controller may not
 * run: without this they would count as ready, and get pods, for minutes or forever.
 */

import { isApiError } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import { concurrently } from '../../base/event-loop/concurrently.ts';
import { timestamp } from '../../base/time/timestamp.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import type { FleetOptions } from './agent/fleet.ts';
import { healthyConditions } from './agent/machine.ts';
import { RUNTIME } from './lifecycle/ids.ts';

export interface LeftOutNodesOptions extends Pick<FleetOptions, 'client' | 'clientOf' | 'clock'> {
  /** The names of the nodes that are simulated from now on. */
  readonly names: readonly string[];
}

const MAX_CONCURRENT_WRITES = 128;

/**
 * Resolves with the names of the simulated nodes that are not among `names`, when their conditions are unknown, as those
 * of a machine whose kubelet has stopped. Only correct when no other process simulates nodes of this cluster.
 */
export async function markLeftOutNodes(options: LeftOutNodesOptions): Promise<readonly string[]> {
  const { client, clientOf, clock } = options;
  const simulated = new Set(options.names);
  const { items } = await client.of(Node).list();
  const leftOut = items.filter((node) => isSimulated(node) && !simulated.has(node.metadata.name ?? ''));
  await concurrently(leftOut, MAX_CONCURRENT_WRITES, async ({ metadata: { name = '' }, status }) => {
    const conditions = unknownConditions(status.conditions ?? [], timestamp(clock.now()));
    if (conditions.length === 0) return;
    await clientOf(name)
      .of(Node)
      .patchStatus(name, { type: 'strategic', changes: { status: { conditions } } })
      .catch((error: unknown) => {
        if (!isApiError(error, 'NotFound')) throw error;
      });
  });
  return leftOut.map(({ metadata: { name = '' } }) => name);
}

const isSimulated = ({ status }: DeepReadonly<Node>) =>
  status.nodeInfo?.containerRuntimeVersion?.startsWith(`${RUNTIME}://`) === true;

/** The conditions that simulated nodes report. */
const REPORTED_CONDITIONS: ReadonlySet<string> = new Set(healthyConditions(0).map(({ type }) => type));

/** Conditions that the node lifecycle controller writes for a silent node; those that are unknown already stay as they are. */
function unknownConditions(conditions: NonNullable<DeepReadonly<Node>['status']['conditions']>, now: string) {
  return conditions
    .filter(({ type, status }) => REPORTED_CONDITIONS.has(type) && status !== 'Unknown')
    .map(({ type }) => ({
      type,
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastTransitionTime: now,
    }));
}
