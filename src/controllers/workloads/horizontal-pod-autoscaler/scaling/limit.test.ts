import { describe, expect, test } from 'vitest';
import { fc, forAll } from '../../../../../test/support/property-runs.ts';
import { type Behavior, limitByPolicies, limitPlainly, NO_HISTORY, type ScalingHistory, stabilize } from './limit.ts';

const NOW = 1_000_000_000;
const bounds = { min: 1, max: 100 };
const UP = [
  { type: 'Pods', value: 4, periodSeconds: 15 },
  { type: 'Percent', value: 100, periodSeconds: 15 },
];
const DOWN = [{ type: 'Percent', value: 100, periodSeconds: 15 }];
const behavior = (up: object = {}, down: object = {}) =>
  ({
    scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: UP, ...up },
    scaleDown: { selectPolicy: 'Max', policies: DOWN, ...down },
  }) as Behavior;
const recommended = (...all: [replicas: number, secondsAgo: number][]): ScalingHistory => ({
  ...NO_HISTORY,
  recommendations: all.map(([replicas, ago]) => ({ replicas, at: NOW - ago * 1000 })),
});

describe('without behavior', () => {
  const limit = (current: number, wanted: number, within = bounds) => {
    const { replicas, reason } = limitPlainly({ current, wanted, ...within });
    return [replicas, reason];
  };

  test('a size at most doubles, or grows to four', () => {
    expect(limit(1, 50)).toEqual([4, 'ScaleUpLimit']);
    expect(limit(10, 50)).toEqual([20, 'ScaleUpLimit']);
    expect(limit(10, 20)).toEqual([20, 'DesiredWithinRange']);
    expect(limit(60, 500)).toEqual([100, 'TooManyReplicas']);
  });

  test('a size keeps to its bounds', () => {
    expect(limit(10, 0, { min: 3, max: 10 })).toEqual([3, 'TooFewReplicas']);
    expect(limit(10, 11, { min: 3, max: 10 })).toEqual([10, 'TooManyReplicas']);
    expect(limit(10, 5, { min: 3, max: 10 })).toEqual([5, 'DesiredWithinRange']);
  });

  test('the highest recommendation of the last five minutes counts, and scaling up has no window', () => {
    const stable = (wanted: number, history: ScalingHistory) =>
      stabilize({ current: 5, wanted, now: NOW }, undefined, history).replicas;
    expect(stable(2, recommended([4, 299], [3, 10]))).toBe(4);
    expect(stable(2, recommended([4, 300]))).toBe(4);
    expect(stable(2, recommended([4, 301]))).toBe(2);
    expect(stable(9, recommended([4, 10]))).toBe(9);
  });
});

describe('policies', () => {
  const limit = (current: number, wanted: number, how: Behavior, changes: ScalingHistory['changes'] = []) => {
    const { replicas, reason } = limitByPolicies({ current, wanted, ...bounds }, how, { changes, now: NOW });
    return [replicas, reason];
  };
  const change = (by: number, secondsAgo: number) => ({ by, at: NOW - secondsAgo * 1000 });
  const pods = (value: number, periodSeconds = 60) => ({ type: 'Pods', value, periodSeconds });
  const percent = (value: number, periodSeconds = 60) => ({ type: 'Percent', value, periodSeconds });

  test('the one that allows most counts, or least, or scaling is disabled', () => {
    const policies = [pods(4), percent(100)];
    expect(limit(10, 50, behavior({ policies }))).toEqual([20, 'ScaleUpLimit']);
    expect(limit(10, 50, behavior({ policies, selectPolicy: 'Min' }))).toEqual([14, 'ScaleUpLimit']);
    expect(limit(10, 50, behavior({ policies, selectPolicy: 'Disabled' }))).toEqual([10, 'ScaleUpLimit']);
    const fewer = [pods(4), percent(75)];
    expect(limit(10, 1, behavior({}, { policies: fewer }))).toEqual([2, 'ScaleDownLimit']);
    expect(limit(20, 5, behavior({}, { policies: fewer }))).toEqual([5, 'DesiredWithinRange']);
    expect(limit(20, 1, behavior({}, { policies: fewer, selectPolicy: 'Min' }))).toEqual([16, 'ScaleDownLimit']);
    expect(limit(20, 1, behavior({}, { policies: fewer, selectPolicy: 'Disabled' }))).toEqual([20, 'ScaleDownLimit']);
  });

  test('changes within the period count', () => {
    const up = behavior({ policies: [pods(4)] });
    expect(limit(13, 50, up, [change(3, 10)])).toEqual([14, 'ScaleUpLimit']);
    expect(limit(14, 50, up, [change(3, 10), change(1, 5)])).toEqual([14, 'ScaleUpLimit']);
    expect(limit(14, 50, up, [change(4, 60)])).toEqual([18, 'ScaleUpLimit']);
    // Pods removed within the period may be added back.
    expect(limit(9, 50, up, [change(3, 20), change(-4, 10)])).toEqual([14, 'ScaleUpLimit']);
    const down = behavior({}, { policies: [percent(10)] });
    expect(limit(100, 1, down)).toEqual([90, 'ScaleDownLimit']);
    expect(limit(90, 1, down, [change(-10, 30)])).toEqual([90, 'ScaleDownLimit']);
    expect(limit(90, 1, down, [change(-10, 60)])).toEqual([81, 'ScaleDownLimit']);
  });

  test('scaling up rounds up, so that one pod can become two', () => {
    expect(limit(1, 9, behavior({ policies: [percent(10)] }))).toEqual([2, 'ScaleUpLimit']);
  });

  test('stabilization windows work in both directions', () => {
    const stable = (wanted: number, how: Behavior, history: ScalingHistory) =>
      stabilize({ current: 5, wanted, now: NOW }, how, history).replicas;
    const slow = behavior({ stabilizationWindowSeconds: 60 }, { stabilizationWindowSeconds: 120 });
    expect(stable(9, slow, recommended([6, 59], [8, 10]))).toBe(6);
    expect(stable(9, slow, recommended([6, 60], [8, 10]))).toBe(8);
    expect(stable(9, slow, recommended([3, 59]))).toBe(5);
    expect(stable(2, slow, recommended([4, 119]))).toBe(4);
    expect(stable(2, slow, recommended([7, 119]))).toBe(5);
    expect(stable(2, slow, recommended([4, 120]))).toBe(2);
    expect(stable(2, behavior(), recommended([4, 299]))).toBe(4);
  });
});

const policy = fc.record({
  type: fc.constantFrom('Pods', 'Percent'),
  value: fc.integer({ min: 1, max: 200 }),
  periodSeconds: fc.integer({ min: 1, max: 1800 }),
});
const rules = fc.record({
  selectPolicy: fc.constantFrom('Max', 'Min', 'Disabled'),
  policies: fc.array(policy, { minLength: 1, maxLength: 3 }),
  stabilizationWindowSeconds: fc.nat(600),
});
const asked = fc
  .record({ min: fc.integer({ min: 1, max: 20 }), room: fc.nat(80), current: fc.nat(80), wanted: fc.nat(300) })
  .map(({ min, room, current, wanted }) => ({ min, max: min + room, current: min + (current % (room + 1)), wanted }));

test('whatever is asked for a size stays within its bounds, and never moves away from the recommendation', () => {
  const changes = fc.array(fc.record({ by: fc.integer({ min: -20, max: 20 }), at: fc.nat(NOW) }), { maxLength: 5 });
  forAll(asked, rules, rules, changes, (asking, up, down, done) => {
    const limited = [limitPlainly(asking), limitByPolicies(asking, behavior(up, down), { changes: done, now: NOW })];
    for (const { replicas } of limited) {
      expect(replicas).toBeGreaterThanOrEqual(asking.min);
      expect(replicas).toBeLessThanOrEqual(asking.max);
      expect(replicas).toBeGreaterThanOrEqual(Math.min(asking.current, Math.max(asking.wanted, asking.min)));
      expect(replicas).toBeLessThanOrEqual(Math.max(asking.current, asking.wanted));
    }
  });
});

test('whatever is asked for no policy is exceeded, however often it is evaluated', () => {
  const steps = fc.array(fc.record({ after: fc.integer({ min: 1, max: 60 }), wanted: fc.nat(300) }), {
    ...{ minLength: 1, maxLength: 30 },
  });
  forAll(asked, policy, steps, ({ min, max, current }, one, looks) => {
    const how = behavior({ policies: [one] }, { policies: [one] });
    const sizes: { at: number; size: number }[] = [{ at: 0, size: current }];
    let changes: ScalingHistory['changes'] = [];
    let now = 0;
    for (const { after, wanted } of looks) {
      now += after * 1000;
      const before = sizes.at(-1)?.size ?? current;
      const { replicas } = limitByPolicies({ min, max, current: before, wanted }, how, { changes, now });
      if (replicas !== before) changes = [...changes, { by: replicas - before, at: now }];
      sizes.push({ at: now, size: replicas });
      // The period before this moment: where it began, and where it has led.
      const since = now - one.periodSeconds * 1000;
      const start = sizes.findLast(({ at }) => at <= since)?.size ?? current;
      const most = one.type === 'Pods' ? start + one.value : Math.ceil(start * (1 + one.value / 100));
      const least = one.type === 'Pods' ? start - one.value : Math.trunc(start * (1 - one.value / 100));
      if (replicas > before) expect(replicas).toBeLessThanOrEqual(most);
      if (replicas < before) expect(replicas).toBeGreaterThanOrEqual(least);
    }
  });
});
