import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PacedTasks } from './paced-tasks.ts';

/** A budget of some tasks for each turn of the event loop, and the tasks of each turn. */
function scene(tasksPerTurn: number) {
  let left = tasksPerTurn;
  const turns: string[][] = [[]];
  const paced = new PacedTasks({ isSpent: () => left === 0 });
  const add = (name: string) =>
    paced.run(() => {
      left--;
      turns.at(-1)!.push(name);
    });
  const turn = async () => {
    left = tasksPerTurn;
    turns.push([]);
    await nextTurn();
  };
  return { add, turn, turns };
}

it('tasks run within the budget of a turn, in the order of the calls', async () => {
  const { add, turn, turns } = scene(2);
  for (const name of ['a', 'b', 'c', 'd', 'e']) add(name);
  await turn();
  add('f');
  await turn();
  await turn();
  expect(turns).toEqual([['a', 'b'], ['c', 'd'], ['e', 'f'], []]);
});

it('no task overtakes a pending one', async () => {
  let isSpent = true;
  const paced = new PacedTasks({ isSpent: () => isSpent });
  const done: number[] = [];
  paced.run(() => done.push(1));
  isSpent = false;
  paced.run(() => done.push(2));
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual([1, 2]);
});
