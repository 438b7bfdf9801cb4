/** Runs controllers in this process: their client calls the server directly. */
import { hostname } from 'node:os';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { createClient } from '../../../client/client.ts';
import { InformerFactory } from '../../../client/informer/informer-factory.ts';
import { runWhileLeader } from '../../../client/leader-election.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import type { Controller } from '../../../controllers/loop/define.ts';
import { runControllers } from '../../../controllers/loop/loop.ts';
import type { Handle, User } from '../../../server/api.ts';

const USER: User = {
  name: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
};

interface Tools {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface ControllerSite extends Tools {
  /** Whether other servers run the same controllers on the same store: then only one of them does at a time. */
  readonly isShared: boolean;
}

/** Starts them, and returns what stops them: it resolves when the last one has. */
export function startControllers(
  controllers: readonly Controller[],
  handle: Handle,
  { isShared, ...tools }: ControllerSite,
): () => Promise<void> {
  const stop = new AbortController();
  const client = createClient(directTransport(handle, USER));
  const lead = async (signal: AbortSignal) => {
    const informers = new InformerFactory({ ...tools, client, signal });
    await runControllers(controllers, { ...tools, client, signal, informers });
    await informers.stopped();
  };
  const lease = { name: 'kube-controller-manager', namespace: 'kube-system' };
  const identity = () => `${hostname()}_${tools.random.uuid()}`;
  const { signal } = stop;
  const running = isShared
    ? runWhileLeader({ ...tools, ...lease, client, signal, identity: identity() }, lead)
    : lead(signal);
  running.catch((error: unknown) => tools.log.error('the controllers have ended', { error }));
  return async () => {
    stop.abort();
    await running;
  };
}
