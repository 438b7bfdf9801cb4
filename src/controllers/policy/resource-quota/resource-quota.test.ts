import { expect, it } from 'vitest';
import { atOnce, countTurns, NEVER_SPENT } from '../../../../test/support/divided-work.ts';
import { statusIn as statusOf } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { ResourceQuota } from '../../../kinds/groups/core/quota/resource-quota.ts';
import type { Plan } from '../../loop/plan.ts';
import { planResourceQuota as dividedPlan, type KindObjects } from './resource-quota.ts';

const now = new Date('2030-01-01T00:00:00Z');

const quota = (hard: Record<string, string>, more: { spec?: object; status?: object } = {}): ResourceQuota =>
  ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'x', resourceVersion: '5' },
    spec: { hard, ...more.spec },
    status: more.status ?? {},
  }) as ResourceQuota;

const pod = (name: string, cpu: string, more: { metadata?: object; status?: object; spec?: object } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'x', ...more.metadata },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }], ...more.spec },
  status: { phase: 'Running', ...more.status },
});

const pods = (...objects: object[]): KindObjects => ({ kind: Pod, objects: objects as never, resourceVersion: '9' });

const planResourceQuota = (
  object: ResourceQuota | undefined,
  { observed }: { observed: readonly KindObjects[] },
  time: Date,
): Plan => atOnce(dividedPlan(object, { observed, pace: NEVER_SPENT }, time));

it('planResourceQuota reports limits and usage', () => {
  const plan = planResourceQuota(
    quota({ pods: '5', 'requests.cpu': '2', secrets: '3' }),
    { observed: [pods(pod('a', '500m'), pod('b', '1')), { kind: Secret, objects: [], resourceVersion: '9' }] },
    now,
  );
  expect(statusOf(plan)).toEqual({
    hard: { pods: '5', 'requests.cpu': '2', secrets: '3' },
    used: { pods: '2', 'requests.cpu': '1500m', secrets: '0' },
  });
  expect(plan.filter(({ type }) => type === 'requeueOnChange')).toHaveLength(2);
});

it('planResourceQuota writes nothing when amounts are equal, however they are formatted', () => {
  const status = { hard: { 'requests.cpu': '2000m' }, used: { 'requests.cpu': '1' } };
  const plan = planResourceQuota(
    quota({ 'requests.cpu': '2' }, { status }),
    { observed: [pods(pod('a', '1000m'))] },
    now,
  );
  expect(plan.map(({ type }) => type)).toEqual(['requeueOnChange']);
});

it('planResourceQuota counts only what is in scope and has not ended', () => {
  const spec = { scopes: ['Terminating'] };
  const plan = planResourceQuota(
    quota({ pods: '5' }, { spec }),
    {
      observed: [
        pods(
          pod('a', '1', { spec: { activeDeadlineSeconds: 5 } }),
          pod('b', '1', { spec: { activeDeadlineSeconds: 5 }, status: { phase: 'Failed' } }),
          pod('c', '1'),
        ),
      ],
    },
    now,
  );
  expect(statusOf(plan).used).toEqual({ pods: '1' });
});

it('planResourceQuota plans again when a pod that is being deleted should be gone', () => {
  const metadata = { deletionTimestamp: '2030-01-01T00:00:10Z', deletionGracePeriodSeconds: 30 };
  const plan = planResourceQuota(quota({ pods: '5' }), { observed: [pods(pod('a', '1', { metadata }))] }, now);
  expect(plan.at(-1)).toEqual({ type: 'requeueAfter', milliseconds: 40_001 });
});

it('planResourceQuota converges, whatever there is', () => {
  const cpu = fc.integer({ min: 0, max: 5000 }).map((milli) => `${milli}m`);
  forAll(fc.array(cpu), (all) => {
    const observed = [pods(...all.map((each, index) => pod(`p${index}`, each)))];
    const hard = { pods: '1', 'requests.cpu': '1' };
    const status = statusOf(planResourceQuota(quota(hard), { observed }, now));
    const next = planResourceQuota(quota(hard, { status }), { observed }, now);
    expect(next.some(({ type }) => type === 'updateStatus')).toBe(false);
  });
});

it('planResourceQuota counts many objects in many turns', () => {
  const observed = [pods(...Array.from({ length: 100 }, (_, index) => pod(`p${index}`, '1')))];
  const { value, turns } = countTurns(
    dividedPlan(quota({ pods: '5' }), { observed, pace: { isSpent: () => true } }, now),
  );
  expect(turns).toBeGreaterThan(100);
  expect(statusOf(value).used).toEqual({ pods: '100' });
});

it('planResourceQuota plans nothing for a quota that is gone', () => {
  expect(planResourceQuota(undefined, { observed: [] }, now)).toEqual([]);
});
