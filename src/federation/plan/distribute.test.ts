import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { distribute, type Recipient } from './distribute.ts';
import { EVENLY, parsePreferences } from './preferences.ts';

type Weights = Record<string, { weight?: number; minReplicas?: number; maxReplicas?: number }>;

const rebalanced = (clusters: Weights) => parsePreferences(JSON.stringify({ rebalance: true, clusters }));
const settled = (clusters: Weights) => parsePreferences(JSON.stringify({ clusters }));

/** `a=3 b=2` */
function divided(replicas: number, preferences: ReturnType<typeof rebalanced>, ...clusters: (string | Recipient)[]) {
  const recipients = clusters.map((each) => (typeof each === 'string' ? { name: each, current: 0 } : each));
  return Object.fromEntries(distribute({ key: 'x', replicas, preferences, clusters: recipients }));
}

describe('replicas are divided', () => {
  it('evenly without preferences', () => {
    expect(divided(30, EVENLY, 'a', 'b', 'c')).toEqual({ a: 10, b: 10, c: 10 });
    expect(Object.values(divided(50, EVENLY, 'a', 'b', 'c')).sort()).toEqual([16, 17, 17]);
    expect(divided(50, EVENLY)).toEqual({});
  });

  it('by weight', () => {
    const weights = rebalanced({ a: { weight: 3 }, b: { weight: 2 }, '*': { weight: 1 } });
    expect(divided(60, weights, 'a', 'b', 'c')).toEqual({ a: 30, b: 20, c: 10 });
  });

  it('to named clusters alone when others have no preference', () => {
    expect(divided(5, rebalanced({ a: { weight: 1 } }), 'a', 'b')).toEqual({ a: 5, b: 0 });
  });

  it('to a cluster whose name every object has as a field', () => {
    expect(divided(4, EVENLY, 'constructor', 'b')).toEqual({ constructor: 2, b: 2 });
  });

  it('with a minimum before weights count', () => {
    const preferences = rebalanced({ a: { weight: 1, minReplicas: 2 }, b: { weight: 0, minReplicas: 3 } });
    expect(divided(10, preferences, 'a', 'b')).toEqual({ a: 7, b: 3 });
    expect(divided(4, preferences, 'a', 'b')).toEqual({ a: 2, b: 2 });
  });

  it('up to a maximum; the others take the rest, and what is above all maxima is given to none', () => {
    const preferences = rebalanced({ a: { weight: 1, maxReplicas: 2 }, b: { weight: 1 } });
    expect(divided(10, preferences, 'a', 'b')).toEqual({ a: 2, b: 8 });
    expect(divided(10, rebalanced({ '*': { weight: 1, maxReplicas: 3 } }), 'a', 'b')).toEqual({ a: 3, b: 3 });
  });

  it('so that running ones stay, unless they are rebalanced', () => {
    const clusters = [
      { name: 'a', current: 9 },
      { name: 'b', current: 0 },
    ];
    expect(divided(10, settled({ '*': { weight: 1 } }), ...clusters)).toEqual({ a: 9, b: 1 });
    expect(divided(10, rebalanced({ '*': { weight: 1 } }), ...clusters)).toEqual({ a: 5, b: 5 });
    expect(divided(20, settled({ '*': { weight: 1 } }), ...clusters)).toEqual({ a: 10, b: 10 });
  });

  it('to where there is room; without any, they wait where they belong by weight', () => {
    const full = { name: 'a', current: 10, capacity: 4 };
    expect(divided(20, settled({ '*': { weight: 1 } }), full, 'b')).toEqual({ a: 4, b: 16 });
    const both = [full, { name: 'b', current: 10, capacity: 6 }];
    expect(divided(20, EVENLY, ...both)).toEqual({ a: 10, b: 10 });
  });

  it('so that, rebalanced, they also wait where there is no room, and move back when there is', () => {
    expect(divided(20, EVENLY, { name: 'a', current: 10, capacity: 4 }, 'b')).toEqual({ a: 10, b: 16 });
    expect(divided(20, EVENLY, { name: 'a', current: 10 }, { name: 'b', current: 16 })).toEqual({ a: 10, b: 10 });
  });

  it('so that none runs in excess where there is room', () => {
    const weights = rebalanced({ a: { weight: 1 }, b: { weight: 2 }, c: { weight: 1 } });
    const clusters = [
      { name: 'a', current: 0, capacity: 0 },
      { name: 'b', current: 0 },
      { name: 'c', current: 0, capacity: 1 },
    ];
    expect(divided(2, weights, ...clusters)).toEqual({ a: 0, b: 2, c: 0 });
  });

  it('completely, whatever the clusters: never more than wanted, never above a maximum', () => {
    const preference = fc.record({
      weight: fc.nat(5),
      minReplicas: fc.nat(4),
      maxReplicas: fc.option(fc.integer({ min: 4, max: 12 }), { nil: undefined }),
    });
    const cluster = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      current: fc.nat(20),
      capacity: fc.option(fc.nat(10), { nil: undefined }),
    });
    const world = fc.record({
      replicas: fc.nat(60),
      rebalance: fc.boolean(),
      byName: fc.dictionary(fc.constantFrom('a', 'b', 'c', '*'), preference),
      clusters: fc.uniqueArray(cluster, { selector: ({ name }) => name }),
    });
    forAll({ numRuns: 2_000 }, world, ({ replicas, rebalance, byName, clusters }) => {
      const preferences = { rebalance, clusters: byName as any };
      const result = distribute({ key: 'x', replicas, preferences, clusters: clusters as Recipient[] });
      const total = [...result.values()].reduce((sum, each) => sum + each, 0);
      const running = clusters.reduce((sum, { name, capacity = 60 }) => sum + Math.min(result.get(name)!, capacity), 0);
      expect(rebalance ? running : total).toBeLessThanOrEqual(replicas);
      for (const { name } of clusters) {
        const { maxReplicas = replicas } = byName[name] ?? byName['*'] ?? { maxReplicas: 0 };
        expect(result.get(name)).toBeLessThanOrEqual(Math.max(0, maxReplicas));
      }
      const isLimited = clusters.every(({ name }) => (byName[name] ?? byName['*'])?.maxReplicas !== undefined);
      const hasWeight = clusters.some(({ name }) => ((byName[name] ?? byName['*'])?.weight ?? 0) > 0);
      const open = clusters.some(({ name }) => {
        const found = byName[name] ?? byName['*'];
        return found !== undefined && found.weight > 0 && found.maxReplicas === undefined;
      });
      if (!isLimited && hasWeight && open) expect(total).toBeGreaterThanOrEqual(replicas);
    });
  });
});

it.each([
  ['{', 'the replica preferences are not valid JSON'],
  ['[]', 'the replica preferences are not an object'],
  ['{"rebalance":1}', 'rebalance in the replica preferences is neither true nor false'],
  ['{"clusters":[]}', 'clusters in the replica preferences is not an object'],
  ['{"clusters":{"a":1}}', 'the replica preferences for a are not an object'],
  ['{"clusters":{"a":{"weight":-1}}}', 'weight in the replica preferences for a is not a whole number of 0 or more'],
  [
    '{"clusters":{"a":{"minReplicas":2,"maxReplicas":1}}}',
    'maxReplicas in the replica preferences for a is less than minReplicas',
  ],
])('preferences: %s: says what is wrong', (text, message) => {
  expect(() => parsePreferences(text)).toThrow(message);
});
