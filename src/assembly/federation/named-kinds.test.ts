import { expect, it } from 'vitest';
import { withResolvers } from '../../base/event-loop/with-resolvers.ts';
import { silent } from '../../base/log.ts';
import { SeededRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { serveNamedKinds } from './named-kinds.ts';

it('ends when it is told to stop while the store does not answer', async () => {
  const stop = new AbortController();
  const { promise: asked, resolve: arrived } = withResolvers<void>();
  const server = {
    direct: () => () => {
      arrived();
      return new Promise<never>(() => undefined);
    },
    registry: undefined as never,
  };
  const tools = { clock: new ControlledClock(), random: new SeededRandom(1), log: silent };
  const serving = serveNamedKinds({ server, ...tools, signal: stop.signal });
  await asked;
  stop.abort(new Error('stopped'));
  await expect(serving).rejects.toThrow('stopped');
});
