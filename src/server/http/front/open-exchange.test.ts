import { expect, it } from 'vitest';
import type { Exchange } from '../protocol/exchange.ts';
import { OpenExchange } from './open-exchange.ts';
import type { FrontWord } from './protocol.ts';

it('of a client that has left already is over when it is followed, and not before somebody has it', () => {
  const over: number[] = [];
  const said: FrontWord[] = [];
  const hearer = {
    say: (word: FrontWord) => said.push(word),
    behind: () => undefined,
    over: (id: number) => over.push(id),
  };
  const gone = { whenGone: (listener: () => void) => listener() } as unknown as Exchange;
  const exchange = new OpenExchange(7, gone, hearer);
  expect(over).toEqual([]);
  exchange.follow();
  expect(over).toEqual([7]);
  expect(said).toEqual([['gone', 7]]);
});
