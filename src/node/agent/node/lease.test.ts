import { expect, it } from 'vitest';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { createClient } from '../../../client/client.ts';
import { httpTransport } from '../../../client/transport/http/http-transport.ts';
import { keepLease } from './lease.ts';

it('tries several times within the duration of the lease when the server does not answer', async () => {
  const clock = new ControlledClock();
  const start = clock.now();
  const attempts: number[] = [];
  const send = ({ signal }: { readonly signal: AbortSignal }) => {
    attempts.push((clock.now() - start) / 1_000);
    return new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('no answer')), { once: true });
    });
  };
  const client = createClient(httpTransport({ send, peer: 'server', clock, timeoutMs: 60_000 }));
  const end = new AbortController();
  const { signal } = end;
  const onRecovered = () => expect.fail('the server does not answer');
  const keeping = keepLease({ client, clock, log: silent, signal, node: 'n', uid: () => undefined, onRecovered });
  await clock.advance(40_000);
  expect(attempts).toEqual([0, 11, 22, 33]);
  end.abort();
  await keeping;
});
