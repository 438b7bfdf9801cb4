import { expect, it } from 'vitest';
import { atOnce, NEVER_SPENT } from '../../../../test/support/divided-work.ts';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { pack as dividedPack, type EndpointGroup, type Packing } from './slice-packing.ts';

const pack = (
  groups: readonly EndpointGroup[],
  slices: Parameters<typeof dividedPack>[1],
  packing: Omit<Packing, 'pace'>,
) => atOnce(dividedPack(groups, slices, { ...packing, pace: NEVER_SPENT }));

const MAX_ENDPOINTS_PER_SLICE = 4;
const PORTS = [80, 81, 82];

/** Addresses behind each port. */
const wanted = fc.array(fc.record({ address: fc.nat(30), port: fc.constantFrom(...PORTS), ready: fc.boolean() }), {
  maxLength: 25,
});

function groupsOf(all: readonly { address: number; port: number; ready: boolean }[]): EndpointGroup[] {
  const groups = PORTS.map((port): EndpointGroup => {
    const endpoints = new Map(all.filter((each) => each.port === port).map((each) => [each.address, each.ready]));
    return {
      addressType: 'IPv4',
      ports: [{ name: 'p', port, protocol: 'TCP' }],
      endpoints: [...endpoints].map(([address, ready]) => ({
        addresses: [`10.0.0.${address}`],
        conditions: { ready },
      })),
    };
  }).filter(({ endpoints }) => endpoints.length > 0);
  return groups.length > 0 ? groups : [{ addressType: 'IPv4', ports: [], endpoints: [] }];
}

const sliceFor = (_: EndpointGroup, old: any) =>
  old ?? { metadata: { generateName: 's-', namespace: 'x', labels: {} } };

it('packing has every endpoint once, in slices within the limit, after one plan', () => {
  forAll(fc.array(wanted, { minLength: 1, maxLength: 5 }), (states) => {
    const world = new PlannerWorld();
    const slices = () => world.of(EndpointSlice).list();
    for (const state of states) {
      const groups = groupsOf(state);
      const plan = pack(groups, slices(), { limit: MAX_ENDPOINTS_PER_SLICE, sliceFor });
      // Updated and removed slices exist, and no slice is touched twice.
      const touched = plan
        .map((action) => ('object' in action ? action.object.metadata?.name : undefined))
        .filter(Boolean);
      expect(new Set(touched).size).toBe(touched.length);
      world.apply(plan);
      const published = slices().flatMap(({ ports, endpoints }: any) =>
        endpoints.map(({ addresses, conditions }: any) => `${ports[0].port} ${addresses[0]} ${conditions.ready}`),
      );
      const expected = groups.flatMap(({ ports, endpoints }) =>
        endpoints.map(({ addresses, conditions }) => `${ports[0]?.port} ${addresses?.[0]} ${conditions?.ready}`),
      );
      expect(published.sort()).toEqual(expected.sort());
      expect(slices().length).toBeGreaterThan(0);
      for (const { endpoints } of slices()) expect(endpoints.length).toBeLessThanOrEqual(MAX_ENDPOINTS_PER_SLICE);
      expect(pack(groups, slices(), { limit: MAX_ENDPOINTS_PER_SLICE, sliceFor })).toEqual([]);
    }
  });
});

it('packing touches one slice when one endpoint changes', () => {
  forAll(fc.uniqueArray(fc.nat(30), { minLength: 1, maxLength: 25 }), fc.nat(), (addresses, index) => {
    const world = new PlannerWorld();
    const slices = () => world.of(EndpointSlice).list();
    const states = addresses.map((address) => ({ address, port: 80, ready: true }));
    world.apply(pack(groupsOf(states), slices(), { limit: MAX_ENDPOINTS_PER_SLICE, sliceFor }));
    const changed = states.map((each, at) => (at === index % states.length ? { ...each, ready: false } : each));
    expect(pack(groupsOf(changed), slices(), { limit: MAX_ENDPOINTS_PER_SLICE, sliceFor })).toHaveLength(1);
    const fewer = states.filter((_, at) => at !== index % states.length);
    expect(pack(groupsOf(fewer), slices(), { limit: MAX_ENDPOINTS_PER_SLICE, sliceFor })).toHaveLength(1);
  });
});
