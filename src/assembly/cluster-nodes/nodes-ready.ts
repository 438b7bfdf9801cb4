/** Waits until the nodes with real pods in the process of the cluster can run pods, and are Ready for clients of the API. */

import type { DeepReadonly } from '../../api/object-types.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Client } from '../../client/client.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';

/** A node that comes up in this process. */
export interface StartingNode {
  readonly name: string;
  /** Acts as the node. */
  readonly client: Client;
  /** Resolves when pods can run; may stay pending. */
  readonly ready: Promise<void>;
}

export interface UnreadyNode {
  readonly name: string;
  readonly reason: string;
}

interface WaitOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Resolves with the nodes that are not ready in time; rejects with the reason of the signal. */
export async function untilNodesReady(
  nodes: readonly StartingNode[],
  { clock, timeoutMs, signal }: WaitOptions,
): Promise<readonly UnreadyNode[]> {
  const end = new AbortController();
  const stopped = AbortSignal.any([signal, end.signal]);
  const waiting = new Set(nodes);
  const all = nodes.map(async (node) => {
    await node.ready;
    await untilReported(node, stopped);
    waiting.delete(node);
  });
  try {
    await Promise.race([Promise.all(all), sleep(clock, timeoutMs, signal)]);
    signal.throwIfAborted();
    return await Promise.all([...waiting].map(describe));
  } finally {
    end.abort();
  }
}

/** A watch begins with the present state, and may end at any time. */
async function untilReported({ name, client }: StartingNode, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for await (const event of await client.of(Node).watch({ fieldSelector: `metadata.name=${name}`, signal })) {
      if (event.type !== 'BOOKMARK' && readyCondition(event.object)?.status === 'True') return;
    }
  }
}

async function describe({ name, client }: StartingNode): Promise<UnreadyNode> {
  const condition = await client
    .of(Node)
    .get(name)
    .then(readyCondition, (error: Error) => ({ status: 'Unknown', message: error.message }));
  const isKnown = condition !== undefined && condition.status !== 'True';
  return { name, reason: (isKnown && condition.message) || 'its runtime is starting' };
}

function readyCondition({ status }: DeepReadonly<Node>) {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}
