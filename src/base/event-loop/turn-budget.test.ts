import { MessageChannel } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { TurnBudget } from './turn-budget.ts';

/** A clock that advances with every step of work. */
function scene(budgetMs: number) {
  let now = 0;
  const budget = new TurnBudget({ monotonic: () => now }, budgetMs);
  let turn = 0;
  const work = async (steps: number, turns: number[]) => {
    for (let step = 0; step < steps; step++) {
      if (budget.isSpent()) await budget.nextTurn();
      turns.push(turn);
      now++;
    }
  };
  const countTurns = () => {
    turn++;
    counting = setImmediate(countTurns);
  };
  let counting = setImmediate(countTurns);
  return { work, stop: () => clearImmediate(counting) };
}

const most = (turns: readonly number[]) =>
  Math.max(...[...new Set(turns)].map((turn) => turns.filter((each) => each === turn).length));

it('the budget of a turn limits the work in one turn of the event loop', async () => {
  const { work, stop } = scene(5);
  const turns: number[] = [];
  await work(50, turns);
  stop();
  expect(turns).toHaveLength(50);
  expect(most(turns)).toBeLessThanOrEqual(5);
});

it('the budget of a turn is shared by all its users', async () => {
  const { work, stop } = scene(5);
  const turns: number[] = [];
  await Promise.all([work(20, turns), work(20, turns), work(20, turns)]);
  stop();
  expect(turns).toHaveLength(60);
  expect(most(turns)).toBeLessThanOrEqual(5);
});

it('the budget of a turn does not delay work that fits', async () => {
  const { work, stop } = scene(5);
  const turns: number[] = [];
  await work(5, turns);
  stop();
  expect(new Set(turns)).toEqual(new Set([0]));
});

it('the budget of a turn is used up by the work of other budgets of the same clock', () => {
  let now = 0;
  const clock = { monotonic: () => now };
  const [one, other] = [new TurnBudget(clock, 5), new TurnBudget(clock, 10)];
  expect(one.isSpent()).toBe(false);
  now = 7;
  expect([one.isSpent(), other.isSpent()]).toEqual([true, false]);
  now = 10;
  expect(other.isSpent()).toBe(true);
});

it('the budget of a turn is renewed after pending input was read', async () => {
  let now = 0;
  const budget = new TurnBudget({ monotonic: () => now }, 5);
  // The event loop reads ports in this order.
  const [second, first] = [new MessageChannel(), new MessageChannel()];
  const read: string[] = [];
  second.port2.on('message', (text) => read.push(text));
  const work = new Promise<void>((done) => {
    first.port2.once('message', async () => {
      budget.isSpent();
      second.port1.postMessage('came during the work');
      now = 10;
      await budget.nextTurn();
      read.push('work went on');
      done();
    });
  });
  first.port1.postMessage('start');
  await work;
  for (const { port1 } of [first, second]) port1.close();
  expect(read).toEqual(['came during the work', 'work went on']);
});
