import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { Peer } from '../../exchange.ts';
import { type FrontConnection, RemoteExchange } from './remote-exchange.ts';

function open() {
  const sent: unknown[] = [];
  const port = { send: (message: readonly unknown[]) => sent.push(message[0]), room: () => undefined };
  const front = { port, closed: () => undefined } as unknown as FrontConnection;
  const head = { method: 'GET', url: '/', headers: {}, body: 'none', token: undefined, watchFraming: 'lines' } as const;
  const exchange = new RemoteExchange({ id: 7, head, body: undefined }, { address: '' } as Peer, front);
  return { exchange, sent };
}

it('an exchange is dropped when its response is destroyed before its end', async () => {
  const { exchange, sent } = open();
  const response = exchange.startResponse(200, []);
  response.destroy();
  await once(response, 'close');
  expect(sent).toEqual(['response', 'abort']);
});

it('an exchange is not dropped when its response has ended', async () => {
  const { exchange, sent } = open();
  const response = exchange.startResponse(200, []);
  response.end();
  await once(response, 'close');
  expect(sent).toEqual(['response', 'end']);
});
