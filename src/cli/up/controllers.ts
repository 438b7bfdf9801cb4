/** Runs controllers in this process: their client calls the server directly. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { createClient } from '../../client/client.ts';
import { directTransport } from '../../client/direct-transport.ts';
import { InformerFactory } from '../../client/informer-factory.ts';
import type { Controller } from '../../controllers/define.ts';
import { runControllers } from '../../controllers/loop.ts';
import type { Handle, User } from '../../server/api.ts';

const USER: User = {
  name: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
};

export interface Tools {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Starts them, and returns what stops them: it resolves when the last one has. */
export function startControllers(
  controllers: readonly Controller[],
  handle: Handle,
  tools: Tools,
): () => Promise<void> {
  const stop = new AbortController();
  const client = createClient(directTransport(handle, USER));
  const common = { ...tools, client, signal: stop.signal };
  const informers = new InformerFactory(common);
  const running = runControllers(controllers, { ...common, informers });
  running.catch((error: unknown) => tools.log.error('the controllers have ended', { error }));
  return async () => {
    stop.abort();
    await running;
    await informers.stopped();
  };
}
