/** Rules for what probes and hooks may connect to. */
import type { DialAllowance, DialGuard } from '../../base/sockets/dial/dial-guard.ts';

export interface ProbedPod {
  /** The address of the pod, as its runtime says. */
  readonly address: string;
  /** True when the pod has the network of the node, so that its containers reach the same addresses by themselves. */
  readonly isOnNodeNetwork: boolean;
  readonly guard: DialGuard;
}

export interface Destination {
  readonly host: string;
  readonly guard: DialGuard;
  readonly allowance: DialAllowance;
}

const ITS_OWN: DialAllowance = { loopback: true, own: true };

/**
 * `host` is what the author of the pod has written. The agent sends from the node: without its network, the pod must not reach
 * what listens there that way.
 */
export function destinationOf(host: string | undefined, { address, isOnNodeNetwork, guard }: ProbedPod): Destination {
  if (!host || host === address) return { host: address, guard, allowance: ITS_OWN };
  return { host, guard, allowance: isOnNodeNetwork ? ITS_OWN : {} };
}
