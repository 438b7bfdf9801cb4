/** How the nodes of test clusters are simulated, apart from the rules of a test. */
import type { SimulationOptions } from '../../assembly/cluster-nodes/simulated-nodes.ts';

export const SIMULATION = {
  clusterCidr: '10.244.0.0/16',
  /** The kubelet version that nodes report. */
  version: 'v1.36.4',
  /** Leases are long, so that little happens while a test moves the clock by days. A node that fails shortens its own. */
  renewalMs: 3_600_000,
} as const satisfies Partial<SimulationOptions>;
