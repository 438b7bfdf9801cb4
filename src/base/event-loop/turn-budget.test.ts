import { describe, expect, it } from 'vitest';
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

describe('the budget of a turn', () => {
  it('lets no more work into one turn of the event loop than it has time for', async () => {
    const { work, stop } = scene(5);
    const turns: number[] = [];
    await work(50, turns);
    stop();
    expect(turns).toHaveLength(50);
    expect(most(turns)).toBeLessThanOrEqual(5);
  });

  it('is shared by all that use it', async () => {
    const { work, stop } = scene(5);
    const turns: number[] = [];
    await Promise.all([work(20, turns), work(20, turns), work(20, turns)]);
    stop();
    expect(turns).toHaveLength(60);
    expect(most(turns)).toBeLessThanOrEqual(5);
  });

  it('delays nothing that fits', async () => {
    const { work, stop } = scene(5);
    const turns: number[] = [];
    await work(5, turns);
    stop();
    expect(new Set(turns)).toEqual(new Set([0]));
  });
});
