import { expect, it } from 'vitest';
import type { Exchange } from '../protocol/exchange.ts';
import type { FrontMessage } from './messages.ts';
import { OpenExchange } from './open-exchange.ts';

it('of a client that has already disconnected is closed when it is followed, not before', () => {
  const closed: number[] = [];
  const sent: FrontMessage[] = [];
  const host = {
    send: (message: FrontMessage) => sent.push(message),
    reportProgress: () => undefined,
    closed: (id: number) => closed.push(id),
  };
  const disconnected = { onClose: (listener: () => void) => listener() } as unknown as Exchange;
  const exchange = new OpenExchange(7, disconnected, host);
  expect(closed).toEqual([]);
  exchange.followClient();
  expect(closed).toEqual([7]);
  expect(sent).toEqual([['closed', 7]]);
});
