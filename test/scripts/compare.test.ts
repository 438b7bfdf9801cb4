/** Tests how `npm run bench -- --compare` judges the figures of two builds. */
import { describe, expect, it } from 'vitest';
import { compare, type Round } from '../../bench/comparison.ts';

const run = (rate: number, wait: number): Round['now'] => [
  { name: 'get', unit: '/s', qd: rate },
  { name: 'start', unit: 'ms', qd: wait },
];
const verdicts = (rounds: readonly Round[]) =>
  Object.fromEntries(compare(rounds).map(({ figure, verdict }) => [figure.name, verdict]));

describe('A comparison of two builds', () => {
  it('calls a figure worse when each round shows a loss', () => {
    const pairs = [
      { before: run(1_000, 100), now: run(900, 120) },
      { before: run(1_100, 90), now: run(950, 110) },
      { before: run(1_050, 95), now: run(940, 100) },
    ];
    expect(verdicts(pairs)).toEqual({ get: 'worse', start: 'worse' });
  });

  it('calls a figure better when each round shows a gain', () => {
    const pairs = [
      { before: run(1_000, 100), now: run(1_200, 80) },
      { before: run(1_100, 90), now: run(1_300, 70) },
    ];
    expect(verdicts(pairs)).toEqual({ get: 'better', start: 'better' });
  });

  it('calls a figure the same when rounds disagree, or the difference is small', () => {
    const pairs = [
      { before: run(1_000, 100), now: run(700, 101) },
      { before: run(1_000, 100), now: run(1_010, 102) },
      { before: run(1_000, 100), now: run(700, 103) },
    ];
    expect(verdicts(pairs)).toEqual({ get: 'same', start: 'same' });
  });

  it('compares ratios to the peer of the same run, when the machine changes its speed', () => {
    const get = (qd: number, bare: number): Round['now'] => [{ name: 'get', unit: '/s', qd, bare }];
    const rounds = [
      { before: get(1_000, 2_000), now: get(500, 1_000) },
      { before: get(1_100, 2_200), now: get(260, 500) },
    ];
    expect(verdicts(rounds)).toEqual({ get: 'same' });
  });

  it('leaves out figures that one of the builds does not measure', () => {
    const pairs = [{ before: run(1, 1), now: [...run(1, 1), { name: 'new', unit: 'ms' as const, qd: 1 }] }];
    expect(Object.keys(verdicts(pairs))).toEqual(['get', 'start']);
  });
});
