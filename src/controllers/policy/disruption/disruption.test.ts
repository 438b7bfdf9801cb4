import { expect, it } from 'vitest';
import { PlannerWorld, settle } from '../../../../test/support/planner-world.ts';
import { fc, forAllAsync } from '../../../../test/support/property-runs.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { PodDisruptionBudget } from '../../../kinds/groups/policy/pod-disruption-budget.ts';
import { planDisruption } from './disruption.ts';

const NOW = new Date('2030-01-01T00:10:00Z');
const pods = fc.array(
  fc.record({
    ready: fc.boolean(),
    isDeleted: fc.boolean(),
    app: fc.constantFrom('web', 'other'),
    /** Minutes since it was evicted. */
    evicted: fc.option(fc.nat(5), { nil: undefined }),
  }),
  { maxLength: 10 },
);
const amount = fc.oneof(
  fc.nat(12),
  fc.nat(100).map((part) => `${part}%`),
);
const spec = fc.oneof(
  amount.map((minAvailable) => ({ minAvailable })),
  amount.map((maxUnavailable) => ({ maxUnavailable })),
);

it('a disruption budget never allows more disruptions than there are surplus healthy pods, and is written once', async () => {
  await forAllAsync(pods, spec, fc.nat(12), async (all, wanted, replicas) => {
    const world = new PlannerWorld();
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs', controller: true };
    world.put(ReplicaSet, { metadata: { name: 'rs', namespace: 'x', uid: 'rs' }, spec: { replicas } });
    const disruptedPods: Record<string, string> = {};
    all.forEach(({ ready, isDeleted, app, evicted }, index) => {
      const name = `p${index}`;
      if (evicted !== undefined) disruptedPods[name] = new Date(NOW.getTime() - evicted * 60_000).toISOString();
      world.put(Pod, {
        metadata: {
          ...{ name, namespace: 'x', labels: { app }, ownerReferences: [owner] },
          ...(isDeleted ? { deletionTimestamp: NOW.toISOString() } : {}),
        },
        spec: {},
        status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
      });
    });
    world.put(PodDisruptionBudget, {
      metadata: { name: 'b', namespace: 'x', generation: 3 },
      spec: { selector: { matchLabels: { app: 'web' } }, ...wanted },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, disruptedPods },
    });
    const budget = () => world.of(PodDisruptionBudget).get('b', 'x');
    const plan = () =>
      planDisruption(budget(), { of: world.of, observed: new Map() }, NOW).filter(
        ({ type }) => type === 'updateStatus',
      );
    await settle(world, plan);
    const { status } = budget();
    const healthy = all.filter(
      ({ ready, isDeleted, app, evicted }) =>
        app === 'web' && ready && !isDeleted && (evicted === undefined || evicted > 2),
    ).length;
    expect(status.currentHealthy).toBe(healthy);
    expect(status.disruptionsAllowed).toBeLessThanOrEqual(Math.max(0, healthy - status.desiredHealthy));
    expect(status.observedGeneration).toBe(3);
    const [condition] = status.conditions;
    expect(condition.status).toBe(status.disruptionsAllowed > 0 ? 'True' : 'False');
    // Evicting all allowed pods leaves the required number healthy.
    expect(healthy - status.disruptionsAllowed).toBeGreaterThanOrEqual(Math.min(healthy, status.desiredHealthy));
  });
});
