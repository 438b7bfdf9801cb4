/** Why a pod fits on no node, and the message about it. */
import type { NodeInfo } from '../cluster/node-info.ts';
import type { Rejected } from './filters.ts';
import { type Rejection, rejection } from './plugin.ts';

export interface Diagnosis {
  /** Number of nodes. */
  readonly total: number;
  /** A plugin that rejects all nodes together. */
  readonly everywhere: Rejected | undefined;
  readonly byNode: ReadonlyMap<NodeInfo, Rejected>;
  /** The reason for nodes that were not evaluated. */
  readonly elsewhere: Rejection | undefined;
  readonly plugins: ReadonlySet<string>;
}

/** Number of reasons that a message lists: a client may let a pod request any number of resources. */
const MAX_REASONS = 100;

export const NO_NODES = 'no nodes available to schedule pods';

/** Returns a message such as `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).` */
export function failureMessage({ total, everywhere, byNode, elsewhere }: Diagnosis): string {
  const start = `0/${total} nodes are available:`;
  if (everywhere) return `${start} ${everywhere.rejection.reasons.join(', ')}.`;
  const counts = new Map<string, number>();
  const count = (reasons: readonly string[], nodes: number) => {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + nodes);
  };
  for (const { rejection } of byNode.values()) count(rejection.reasons, 1);
  if (elsewhere && byNode.size < total) count(elsewhere.reasons, total - byNode.size);
  const parts = [...counts].map(([reason, nodes]) => `${nodes} ${reason}`).sort(byText);
  if (parts.length > MAX_REASONS) parts.splice(MAX_REASONS, parts.length, `${parts.length - MAX_REASONS} more reasons`);
  return parts.length > 0 ? `${start} ${parts.join(', ')}.` : start;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The reason for nodes that no plugin names. */
export function unnamed(plugins: readonly string[]): Rejection {
  return rejection(`node(s) didn't satisfy plugin(s) [${[...plugins].sort().join(' ')}]`);
}
