import { describe, expect, test } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { parseAmount, sampleAmount } from '../rules/amount.ts';
import { readStage } from '../rules/read-stage.ts';
import { DEFAULT_STAGES } from '../rules/rules.ts';
import { newPodLife, type PodLife } from './pod-life.ts';
import { usageOf } from './usage.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const MI = 1024 * 1024;

/** A pod whose containers run. */
function lifeOf(rule_: string | object | undefined, requests: Record<string, object | undefined> = { c: undefined }) {
  const names = Object.keys(requests);
  const started = { running: { startedAt: '2029-12-31T23:00:00Z' } };
  const pod: any = {
    metadata: { name: 'a', namespace: 'x', uid: 'u' },
    spec: { containers: names.map((name) => ({ name, image: 'x', resources: { requests: requests[name] } })) },
    status: {
      phase: 'Running',
      podIP: '10.0.0.2',
      containerStatuses: names.map((name) => ({ name, image: 'x', state: started, lastState: {}, restartCount: 0 })),
    },
  };
  const stages = rule_ === undefined ? DEFAULT_STAGES : { ...DEFAULT_STAGES, usage: readStage('usage', rule_, '') };
  return newPodLife({ pod, stages, now: NOW, sandboxTakes: 0 });
}

const measure = (life: PodLife, { now = NOW, podsSharing = 1 } = {}) =>
  usageOf([life], { now, podsSharing: () => podsSharing });
const first = (life: PodLife, at = {}) => measure(life, at).pods[0]?.containers[0];

describe('a container uses', () => {
  test('without a rule, a tenth of the processor and half of the memory that it requests', () => {
    expect(first(lifeOf(undefined, { c: { cpu: '500m', memory: '64Mi' } }))).toEqual({
      ...{ name: 'c', cpu: 50_000_000, memory: 32 * MI },
    });
  });

  test('a little when it requests nothing', () => {
    expect(first(lifeOf(undefined))).toEqual({ name: 'c', cpu: 10_000_000, memory: 100 * MI });
  });

  test.each<[string | object, { cpu: number; memory: number }]>([
    ['cpu=150%', { cpu: 300_000_000, memory: 32 * MI }],
    ['cpu=1.5, memory=1Gi', { cpu: 1_500_000_000, memory: 1024 * MI }],
    [
      { cpu: 2, memory: '25%' },
      { cpu: 2_000_000_000, memory: 16 * MI },
    ],
    [
      { cpu: '90%', containers: 'other' },
      { cpu: 20_000_000, memory: 32 * MI },
    ],
  ])('by the rule %j', (rule_, expected) => {
    expect(first(lifeOf(rule_, { c: { cpu: '200m', memory: '64Mi' } }))).toMatchObject(expected);
  });

  test('its share of a load that pods of the same owner share', () => {
    const life = lifeOf({ cpu: '3', shared: true });
    expect(first(life, { podsSharing: 4 })?.cpu).toBe(750_000_000);
    expect(first(life, { podsSharing: 0 })?.cpu).toBe(3_000_000_000);
  });

  test('a value of the range, which is constant within a measurement window', () => {
    const life = lifeOf('cpu=10%..90%');
    const drawn = Array.from({ length: 50 }, (_, index) => first(life, { now: NOW + index * 10_000 })?.cpu ?? 0);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(10_000_000);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(90_000_000);
    expect(new Set(drawn).size).toBeGreaterThan(40);
    expect(first(life, { now: NOW + 9_999 })?.cpu).toBe(drawn[0]);
  });
});

test('a node uses what its pods use, and something itself', () => {
  const { node, pods, window, time } = measure(lifeOf('cpu=1,memory=100Mi', { a: undefined, b: undefined }));
  expect(node).toEqual({ cpu: 2_100_000_000, memory: 712 * MI });
  expect(pods).toHaveLength(1);
  expect({ window, time }).toEqual({ window: 10_000, time: NOW });
});

test('containers that do not run use nothing', () => {
  const life = lifeOf(undefined);
  for (const run of life.runs) run.state = { type: 'waiting', reason: 'CrashLoopBackOff' };
  expect(measure(life).pods).toEqual([]);
});

test.each(['', '%', '10%..', '5..10%', '2..1', '1..2..3', '-1', 'much', '10%%'])('an amount is not %j', (text) => {
  expect(parseAmount(text, 'cpu')).toBeUndefined();
});

test('an amount that is sampled lies within its range', () => {
  forAll(fc.nat(1000), fc.nat(1000), fc.string(), (min, more, word) => {
    const drawn = sampleAmount({ isPercent: true, min, max: min + more }, word);
    expect(drawn).toBeGreaterThanOrEqual(min);
    expect(drawn).toBeLessThanOrEqual(min + more);
  });
});
