/** Contract between the endpoint and the node that it shows. */
import type { AgentCounters } from '../agent/counters.ts';
import type { ClaimStats } from '../machine/housekeeping.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { PodState } from '../pod/plan/state.ts';
import type { ProbeCount } from '../probes/container-probes.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** A pod that the agent runs. */
export interface ServedPod {
  readonly pod: SeenPod;
  /** Undefined until the agent has looked at it for the first time. */
  readonly state: PodState | undefined;
  /** Results of the probes of its running containers. */
  probes(): readonly (ProbeCount & { readonly container: string })[];
}

export interface EndpointNode {
  readonly name: string;
  /** Addresses of the node. */
  readonly addresses: readonly string[];
  /** Undefined until it has come up. */
  readonly runtime: Runtime | undefined;
  /** Undefined until it has come up. */
  readonly counters: Pick<AgentCounters, 'samples'> | undefined;
  /** The pod of that name which the agent runs now. */
  find(namespace: string, name: string): ServedPod | undefined;
  pods(): Iterable<ServedPod>;
  /** For `/stats/summary`. Undefined until something was measured. */
  summary(): Promise<object | undefined>;
  /** For `/metrics`: volumes of claims. */
  claimStats(): Promise<readonly ClaimStats[]>;
  /** For `/metrics/resource`. Undefined until the node has come up. */
  resourceMetrics(): Promise<string | undefined>;
}

/** Reports whether an address is one of the node or its pods, as the runtime says. No other is dialled for the server. */
export function isAddressOf(node: Pick<EndpointNode, 'addresses' | 'pods'>, address: string): boolean {
  if (node.addresses.includes(address)) return true;
  return [...node.pods()].some(({ state }) => state?.sandboxes.some(({ addresses }) => addresses.includes(address)));
}
