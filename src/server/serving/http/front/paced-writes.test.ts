import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PacedWrites } from './paced-writes.ts';

/** A budget of some writes for each turn of the event loop, and the writes of each turn. */
function scene(writesPerTurn: number) {
  let left = writesPerTurn;
  const turns: string[][] = [[]];
  const paced = new PacedWrites({ isSpent: () => left === 0 });
  const write = (name: string) =>
    paced.run(() => {
      left--;
      turns.at(-1)!.push(name);
    });
  const turn = async () => {
    left = writesPerTurn;
    turns.push([]);
    await nextTurn();
  };
  return { write, turn, turns };
}

it('writes within the budget of a turn, in the order of the calls', async () => {
  const { write, turn, turns } = scene(2);
  for (const name of ['a', 'b', 'c', 'd', 'e']) write(name);
  await turn();
  write('f');
  await turn();
  await turn();
  expect(turns).toEqual([['a', 'b'], ['c', 'd'], ['e', 'f'], []]);
});

it('lets no write overtake a pending one', async () => {
  let isSpent = true;
  const paced = new PacedWrites({ isSpent: () => isSpent });
  const written: number[] = [];
  paced.run(() => written.push(1));
  isSpent = false;
  paced.run(() => written.push(2));
  expect(written).toEqual([]);
  await nextTurn();
  expect(written).toEqual([1, 2]);
});
