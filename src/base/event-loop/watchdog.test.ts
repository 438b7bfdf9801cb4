import { expect, it } from 'vitest';
import { ControlledClock } from '../time/clock.ts';
import { TurnBudget } from './turn-budget.ts';
import { monitoredClock, Watchdog, type Work } from './watchdog.ts';

const work = (name: string): Work => ({ work: name, describe: () => ({ name }) });
const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A clock that work advances, and the reports of the watchdog. */
function watched() {
  let time = 0;
  const reports: [string, number][] = [];
  const watchdog = new Watchdog({
    clock: { now: () => time, monotonic: () => time },
    onBlocked: ({ work: kind }, milliseconds) => reports.push([kind, milliseconds]),
  });
  const run = (name: string, milliseconds: number) => {
    watchdog.begin(work(name));
    time += milliseconds;
  };
  return { reports, run, watchdog, pass: (milliseconds: number) => (time += milliseconds) };
}

it('reports only work that took too long in its turn', async () => {
  const { run, reports } = watched();
  run('a', 100);
  run('b', 250);
  run('c', 150);
  await endOfTurn();
  expect(reports).toEqual([['b', 250]]);
});

it('reports the last work of a turn', async () => {
  const { run, reports } = watched();
  run('a', 10);
  run('b', 1_000);
  await endOfTurn();
  expect(reports).toEqual([['b', 1_000]]);
});

it('does not count the time in which nothing runs', async () => {
  const { run, pass, reports } = watched();
  run('a', 10);
  await endOfTurn();
  pass(60_000);
  run('b', 10);
  await endOfTurn();
  expect(reports).toEqual([]);
});

it('reports the work that runs when a timer is due', async () => {
  const { watchdog, reports, pass } = watched();
  const controlled = new ControlledClock();
  monitoredClock(controlled, watchdog).timer(10, () => pass(300));
  await controlled.advance(10);
  await endOfTurn();
  expect(reports).toEqual([['timer', 300]]);
  expect(controlled.waiting).toBe(0);
});

it('reports work that continues in another turn', async () => {
  const { watchdog, reports, run, pass } = watched();
  const budget = new TurnBudget(monitoredClock(new ControlledClock(), watchdog));
  const divided = async () => {
    run('divided', 10);
    await budget.nextTurn();
    pass(300);
    await budget.nextTurn();
    pass(400);
  };
  const other = async () => {
    run('other', 10);
    await budget.nextTurn();
  };
  await Promise.all([divided(), other()]);
  await endOfTurn();
  expect(reports).toEqual([
    ['divided', 300],
    ['divided', 400],
  ]);
});
