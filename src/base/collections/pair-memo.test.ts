import { expect, it } from 'vitest';
import { memoizedPair } from './pair-memo.ts';

it('computes once for each pair of objects, and for each order of them', () => {
  const calls: string[] = [];
  const joined = memoizedPair((a: { name: string }, b: { name: string }) => {
    calls.push(a.name + b.name);
    return a.name === b.name;
  });
  const [x, y] = [{ name: 'x' }, { name: 'y' }];
  const ask = () => [joined(x, y), joined(x, { name: 'x' }), joined(y, x)];
  expect(ask()).toEqual([false, true, false]);
  expect(ask()).toEqual([false, true, false]);
  expect(calls).toEqual(['xy', 'xx', 'yx', 'xx']);
});
