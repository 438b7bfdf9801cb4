import { expect, it } from 'vitest';
import { planEndpointSlices, planEndpoints, planMirroring } from '../../../../test/support/endpoint-planners.ts';
import { PlannerWorld, settle } from '../../../../test/support/planner-world.ts';
import { fc, forAllAsync } from '../../../../test/support/property-runs.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';

const key = { namespace: 'x', name: 'web' };
const pods = fc.array(
  fc.record({
    app: fc.constantFrom('web', 'other'),
    namespace: fc.constantFrom('x', 'y'),
    hasAddress: fc.boolean(),
    ready: fc.boolean(),
    isDeleted: fc.boolean(),
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
    port: fc.option(fc.constantFrom(8080, 9090), { nil: undefined }),
  }),
  { maxLength: 15 },
);
type Pods = typeof pods extends fc.Arbitrary<infer T> ? T : never;

const ipOf = (index: number) => `10.0.0.${index + 1}`;

function put(world: PlannerWorld, index: number, each: Pods[number]): void {
  world.put(Pod, {
    metadata: {
      name: `p${index}`,
      uid: `u${index}`,
      namespace: each.namespace,
      labels: { app: each.app },
      ...(each.isDeleted ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
    },
    spec: {
      nodeName: 'n',
      containers: [{ ports: each.port ? [{ name: 'http', containerPort: each.port, protocol: 'TCP' }] : [] }],
    },
    status: {
      phase: each.phase,
      ...(each.hasAddress ? { podIPs: [{ ip: ipOf(index) }] } : {}),
      conditions: [{ type: 'Ready', status: each.ready ? 'True' : 'False' }],
    },
  });
}

function clear(world: PlannerWorld): void {
  for (const { metadata } of world.of(Pod).list()) {
    for (const _ of world.of(Pod).remove(`${metadata.namespace}/${metadata.name}`));
  }
}

const service = {
  metadata: { name: 'web', namespace: 'x', uid: 'service', creationTimestamp: '2030-01-01T00:00:00Z' },
  spec: {
    selector: { app: 'web' },
    clusterIP: '10.96.0.9',
    ipFamilies: ['IPv4'],
    ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
  },
};

/** Reports whether a pod is an endpoint: selected, with an address, and not terminated. */
const isMember = (each: Pods[number]) =>
  each.app === 'web' && each.namespace === 'x' && each.hasAddress && ['Pending', 'Running'].includes(each.phase);

it('the endpoints of a service have ready and unready pods in both kinds, and are written once', async () => {
  await forAllAsync({ numRuns: 60 }, fc.array(pods, { minLength: 1, maxLength: 3 }), async (states) => {
    const world = new PlannerWorld();
    const at = { key, of: world.of };
    world.put(Node, { metadata: { name: 'n' } });
    const stored = world.put(Service, service);
    for (const state of states) {
      clear(world);
      for (const [index, each] of state.entries()) put(world, index, each);
      await settle(world, () => [...planEndpoints(stored, at), ...planEndpointSlices(stored, at)]);
      const members = state.map((each, index) => ({ ...each, ip: ipOf(index) })).filter(isMember);

      const { subsets = [] } = world.of(Endpoints).get('web', 'x');
      const published = (list: 'addresses' | 'notReadyAddresses') =>
        subsets
          .flatMap((subset: any) => subset[list] ?? [])
          .map(({ ip }: any) => ip)
          .sort();
      const alive = members.filter(({ isDeleted, port }) => !isDeleted && port);
      expect(published('addresses')).toEqual(
        alive
          .filter(({ ready }) => ready)
          .map(({ ip }) => ip)
          .sort(),
      );
      expect(published('notReadyAddresses')).toEqual(
        alive
          .filter(({ ready }) => !ready)
          .map(({ ip }) => ip)
          .sort(),
      );

      const endpoints = world
        .of(EndpointSlice)
        .list()
        .flatMap((slice: any) => slice.endpoints);
      expect(endpoints.map(({ addresses }: any) => addresses[0]).sort()).toEqual(members.map(({ ip }) => ip).sort());
      for (const { addresses, conditions } of endpoints) {
        const { ready, isDeleted } = members.find(({ ip }) => ip === addresses[0]) as Pods[number];
        expect(conditions).toEqual({ ready: ready && !isDeleted, serving: ready, terminating: isDeleted });
      }
    }
    // Endpoints of a service with a selector are not mirrored.
    expect(planMirroring(world.of(Endpoints).get('web', 'x'), at)).toEqual([]);
  });
});

it('the endpoints of a service never touch what another client manages', () => {
  const world = new PlannerWorld();
  const at = { key, of: world.of };
  for (const spec of [
    { ...service.spec, selector: undefined },
    { ...service.spec, type: 'ExternalName' },
  ]) {
    const stored = world.put(Service, { ...service, spec });
    world.put(Endpoints, {
      metadata: { name: 'web', namespace: 'x' },
      subsets: [{ addresses: [{ ip: '10.1.1.1' }] }],
    });
    expect([...planEndpoints(stored, at), ...planEndpointSlices(stored, at)]).toEqual([]);
  }
});
