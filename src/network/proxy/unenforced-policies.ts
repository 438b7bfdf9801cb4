/** Says of every NetworkPolicy that a node does not enforce it. */

import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Client } from '../../client/client.ts';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { NetworkPolicy } from '../../kinds/groups/networking/network-policy.ts';

export interface UnenforcedPoliciesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The name of the node. */
  readonly node: string;
  /** Limits the duration of watches, in seconds. */
  readonly watchSeconds?: number;
}

const REASON = 'NetworkPolicyNotEnforced';

/** Starts reporting; returns a function that stops it. */
export function reportUnenforcedPolicies(options: UnenforcedPoliciesOptions): () => Promise<void> {
  const { node, log } = options;
  const stop = new AbortController();
  const common = { ...options, signal: stop.signal };
  const informers = new InformerFactory(common);
  const events = createEventRecorder({ ...common, component: 'service-proxy', host: node });
  const message = `Node ${node} does not enforce network policies: that needs root and nft`;
  let isLogged = false;
  informers.of(NetworkPolicy).onChange(({ type, object }) => {
    if (type !== 'add') return;
    events.event(object, 'Warning', REASON, message);
    if (!isLogged) log.warn('network policies are not enforced on this node: that needs root and nft', { node });
    isLogged = true;
  });
  return async () => {
    stop.abort(new Error('the watch of policies stops'));
    await informers.stopped();
  };
}
