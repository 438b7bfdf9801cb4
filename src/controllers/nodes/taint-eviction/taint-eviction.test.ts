import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { planTaintEviction } from './taint-eviction.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const iso = (time: number) => new Date(time).toISOString();
const keys = ['a', 'b'];
const taint = fc.record({
  key: fc.constantFrom(...keys),
  effect: fc.constantFrom('NoExecute', 'NoSchedule'),
  added: fc.nat(100),
});
const toleration = fc.record({
  key: fc.constantFrom(...keys),
  seconds: fc.option(fc.integer({ min: -10, max: 100 }), { nil: undefined }),
});

it('a pod on a node with taints stays as long as it tolerates them', () => {
  forAll(
    fc.uniqueArray(taint, { selector: ({ key, effect }) => `${key} ${effect}` }),
    fc.uniqueArray(toleration, { selector: ({ key }) => key }),
    fc.nat(250),
    (taints, tolerations, elapsed) => {
      const world = new PlannerWorld();
      world.put(Node, {
        metadata: { name: 'n' },
        spec: {
          taints: taints.map(({ key, effect, added }) => ({ key, effect, timeAdded: iso(START + added * 1000) })),
        },
      });
      world.put(Pod, {
        metadata: { name: 'p', namespace: 'x', creationTimestamp: iso(START) },
        spec: {
          nodeName: 'n',
          tolerations: tolerations.map(({ key, seconds }) => ({
            key,
            operator: 'Exists',
            tolerationSeconds: seconds,
          })),
        },
        status: {},
      });
      const at = { key: { namespace: 'x', name: 'p' }, of: world.of, observed: { since: undefined } };
      const now = START + elapsed * 1000;
      const plan = planTaintEviction(undefined, at, new Date(now));
      const isDeleted = plan.some(({ type }) => type === 'delete');

      const evicting = taints.filter(({ effect }) => effect === 'NoExecute');
      const used = evicting.map(({ key }) => tolerations.find((each) => each.key === key));
      const limits = used.flatMap((each) => (each?.seconds === undefined ? [] : [Math.max(0, each.seconds)]));
      const end = START + (Math.min(...evicting.map(({ added }) => added)) + Math.min(...limits)) * 1000;
      if (evicting.length === 0) expect(plan).toEqual([]);
      else if (used.includes(undefined)) expect(isDeleted).toBe(true);
      else if (limits.length === 0) expect(plan).toEqual([]);
      else if (now >= end) expect(isDeleted).toBe(true);
      else expect(plan).toEqual([{ type: 'requeueAfter', milliseconds: end - now }]);
    },
  );
});
