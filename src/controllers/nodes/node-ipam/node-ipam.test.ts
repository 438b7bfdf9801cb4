import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { freeRange, planNodeRange } from './node-ipam.ts';

const worldOf = (ranges: readonly (string | undefined)[]) => {
  const world = new PlannerWorld();
  ranges.forEach((range, index) => {
    world.put(Node, { metadata: { name: `n${index}` }, spec: range ? { podCIDR: range, podCIDRs: [range] } : {} });
  });
  return world;
};

it('the range of a node is unique, in whatever order nodes are added and deleted', () => {
  forAll(fc.array(fc.option(fc.nat(15), { nil: undefined }), { maxLength: 12 }), fc.nat(3), (taken, pending) => {
    const ranges = taken.map((each) => (each === undefined ? undefined : `10.244.${each}.0/24`));
    const world = worldOf(ranges);
    const given = new Map(Array.from({ length: pending }, (_, index) => [`new${index}`, `10.244.${index}.0/24`]));
    const found = freeRange('10.244.0.0/20', 'x', { of: world.of, given });
    const used = new Set([...ranges.filter(Boolean), ...given.values()]);
    if (used.size === 16) expect(found).toBeUndefined();
    else expect(found && /^10\.244\.\d+\.0\/24$/.test(found) && !used.has(found)).toBe(true);
  });
});

it('the range of a node has the configured size, and does not overlap another', () => {
  const of = (...ranges: string[]) => worldOf(ranges).of;
  expect(freeRange('10.0.0.0/26', 'x', { of: of(), given: new Map() })).toBe('10.0.0.0/26');
  const other = of('10.0.0.0/22', '10.0.5.64/26');
  expect(freeRange('10.0.0.0/16', 'x', { of: other, given: new Map() })).toBe('10.0.4.0/24');
  const next = of('10.0.0.0/22', '10.0.4.0/24', '10.0.5.64/26');
  expect(freeRange('10.0.0.0/16', 'x', { of: next, given: new Map() })).toBe('10.0.6.0/24');
});

it('the range of a node is written once, and its absence is reported', () => {
  const node = (spec: object) => ({ metadata: { name: 'n', resourceVersion: '1' }, spec }) as any;
  const given = new Map([['n', '10.244.0.0/24']]);
  expect(planNodeRange(node({}), { observed: given })).toMatchObject([
    { type: 'patch', patch: { changes: { spec: { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'] } } } },
  ]);
  expect(planNodeRange(node({ podCIDR: '10.9.0.0/24' }), { observed: given })).toEqual([]);
  expect(planNodeRange(node({}), { observed: new Map() })).toMatchObject([
    { type: 'event', reason: 'CIDRNotAvailable' },
    { type: 'requeueAfter' },
  ]);
});
