/** Says of every NetworkPolicy that a node does not enforce it. */

import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { NetworkPolicy } from '../../kinds/groups/networking/network-policy.ts';
import type { ApiFollowerOptions } from './api-follower.ts';

export interface UnenforcedPoliciesOptions extends ApiFollowerOptions {
  /** The name of the node. */
  readonly node: string;
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
