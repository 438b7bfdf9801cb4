import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { type TestAuthority, testAuthority } from '../../../../../test/support/tls.ts';
import { silent } from '../../../../base/log.ts';
import { type Clock, systemClock } from '../../../../base/time/clock.ts';
import { defaultLimits } from '../limits.ts';
import { openListeners } from './listeners.ts';

const CLIENTS = 60;
/** A clock by which each look at it takes so much of the budget of 10 ms that a turn has room for three tasks. */
function slowClock(): Clock {
  let now = 0;
  return { ...systemClock, monotonic: () => (now += 3) };
}

/** Opens a request that is not answered. Returns a function that disconnects. */
type Open = (port: number, authority: TestAuthority) => Promise<() => void>;

const openHttp1: Open = async (port, { ca }) => {
  const socket = connect({ port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return () => socket.destroy();
};

const openHttp2: Open = async (port, { ca }) => {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca });
  await once(session, 'connect');
  session.request({ ':path': '/' }).on('error', () => undefined);
  return () => session.destroy();
};

it.each([
  ['HTTP/1', openHttp1],
  ['HTTP/2', openHttp2],
] as const)('many clients that disconnect at once are closed over many turns: %s', async (_protocol, open) => {
  const authority = await testAuthority();
  let served = 0;
  let closedInTurn = 0;
  const turns: number[] = [];
  const listeners = openListeners({
    tls: { ...(await authority.server()), ca: authority.ca },
    limits: { ...defaultLimits, maxConnectionsPerAddress: CLIENTS },
    clock: slowClock(),
    log: silent,
    pace: undefined,
    serve: (exchange) => {
      served++;
      exchange.onClose(() => void closedInTurn++);
    },
  });
  const { port } = (await listeners.listen(0, '127.0.0.1')) as AddressInfo;
  const disconnect: (() => void)[] = [];
  for (let i = 0; i < CLIENTS; i++) disconnect.push(await open(port, authority));
  await expect.poll(() => served).toBe(CLIENTS);
  for (const each of disconnect) each();
  for (let closed = 0; closed < CLIENTS; closed += turns.at(-1)!) {
    closedInTurn = 0;
    await nextTurn();
    turns.push(closedInTurn);
  }
  expect(Math.max(...turns)).toBeLessThanOrEqual(CLIENTS / 4);
  await listeners.close();
});
