/** Tests that the objects of services with very many ports, in front of many pods, stay within bounds. */
import { describe, expect, it } from 'vitest';
import { countTurns } from '../../../../test/support/divided-work.ts';
import { planEndpointSlices, planEndpoints, planMirroring } from '../../../../test/support/endpoint-planners.ts';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { planEndpointSlices as dividedEndpointSlices } from './endpoint-slices.ts';
import { planEndpoints as dividedEndpoints } from './endpoints.ts';
import { planMirroring as dividedMirroring } from './mirroring.ts';

const key = { namespace: 'x', name: 'web' };
const listOf = <T>(length: number, of: (index: number) => T) => Array.from({ length }, (_, index) => of(index));
const TCP = { protocol: 'TCP' } as const;

/** `named`: whether each pod has its own number for the first port. */
function scene({ ports, pods, named = false }: { ports: number; pods: number; named?: boolean }) {
  const world = new PlannerWorld();
  world.put(Node, { metadata: { name: 'n' } });
  const service = world.put(Service, {
    metadata: { ...key, uid: 'service', creationTimestamp: '2030-01-01T00:00:00Z' },
    spec: {
      selector: { app: 'web' },
      clusterIP: '10.0.0.1',
      ports: listOf(ports, (at) => ({
        ...TCP,
        name: `p${at}`,
        port: at + 1,
        ...(named && at === 0 ? { targetPort: 'own' } : {}),
      })),
    },
  });
  for (let at = 0; at < pods; at++) {
    world.put(Pod, {
      metadata: { name: `pod-${at}`, namespace: 'x', uid: `u${at}`, labels: { app: 'web' } },
      spec: { nodeName: 'n', containers: [{ ports: [{ ...TCP, name: 'own', containerPort: 30_000 + at }] }] },
      status: {
        phase: 'Running',
        podIPs: [{ ip: `10.1.${at >> 8}.${at & 255}` }],
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
  }
  return { service, view: { of: world.of, key }, world };
}

const written = (plan: readonly any[]) => plan.map(({ object }) => object);
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

describe('a service with very many ports', () => {
  it('lists them once in Endpoints, and once in each of a few slices', () => {
    const { service, view } = scene({ ports: 30_000, pods: 300 });
    const [endpoints] = written(planEndpoints(service, view));
    expect(endpoints.subsets).toHaveLength(1);
    expect(endpoints.subsets[0].addresses).toHaveLength(300);
    expect(endpoints.subsets[0].ports).toHaveLength(30_000);
    const slices = written(planEndpointSlices(service, view));
    expect(slices.map(({ endpoints, ports }) => [endpoints.length, ports.length])).toEqual(
      listOf(2, () => [100, 20_000]),
    );
  });

  it('publishes a limited number of pods that number its ports differently', () => {
    const { service, view } = scene({ ports: 10_000, pods: 300, named: true });
    const [endpoints] = written(planEndpoints(service, view));
    expect(endpoints.metadata.annotations['endpoints.kubernetes.io/over-capacity']).toBe('truncated');
    const slices = written(planEndpointSlices(service, view));
    expect(slices).toHaveLength(5);
    expect(sum(slices.map(({ ports }) => ports.length))).toBe(50_000);
  });

  it('has a limited number of slices', () => {
    const { service, view } = scene({ ports: 10_000, pods: 5_000 });
    const slices = written(planEndpointSlices(service, view));
    expect(slices).toHaveLength(5);
    expect(sum(slices.map(({ endpoints }) => endpoints.length))).toBe(500);
  });

  it('keeps all pods of ordinary services, whatever their named ports', () => {
    const { service, view } = scene({ ports: 10, pods: 500, named: true });
    const slices = written(planEndpointSlices(service, view));
    expect(sum(slices.map(({ endpoints }) => endpoints.length))).toBe(500);
    const [endpoints] = written(planEndpoints(service, view));
    // The port that differs, and the others, which all pods have.
    expect(endpoints.subsets).toHaveLength(501);
    expect(endpoints.metadata.annotations['endpoints.kubernetes.io/over-capacity']).toBeUndefined();
  });
});

describe('Endpoints that a client wrote', () => {
  const mirrored = (subsets: readonly object[]) => {
    const { world, view } = scene({ ports: 1, pods: 0 });
    world.put(Service, { metadata: key, spec: { clusterIP: '10.0.0.1', ports: [] } });
    const endpoints = world.put(Endpoints, { metadata: { ...key, uid: 'e' }, subsets });
    return written(planMirroring(endpoints, view)).filter(({ kind }) => kind !== 'Endpoints');
  };
  const addresses = (count: number) => listOf(count, (at) => ({ ip: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` }));

  it('are mirrored without combining every address with every port', () => {
    const ports = listOf(15_000, (at) => ({ ...TCP, name: `p${at}`, port: at + 1 }));
    const slices = mirrored([{ addresses: addresses(50_000), ports }]);
    expect(slices[0].endpoints).toHaveLength(1000);
    expect(slices[0].ports).toHaveLength(15_000);
  });

  it('are mirrored in part when subsets that share addresses are too many', () => {
    const ports = listOf(1_000, (at) => ({ ...TCP, name: `p${at}`, port: at + 1 }));
    // Each port has its own address besides the common ones: when packed, each would list all of them.
    const own = ports.map((port, at) => ({ addresses: [{ ip: `11.0.${at >> 8}.${at & 255}` }], ports: [port] }));
    const slices = mirrored([{ addresses: addresses(5_000), ports }, ...own]);
    expect(slices.length).toBeLessThan(30);
  });
});

describe('a plan for many of them', () => {
  const pace = { isSpent: () => true };

  it.each([
    ['pods', { ports: 1, pods: 200 }],
    ['pods that number a port differently', { ports: 2, pods: 200, named: true }],
  ])('is made in many turns for %s', (_, shape) => {
    const { service, view } = scene(shape);
    const world = { ...view, pace };
    for (const [plan, alone] of [
      [dividedEndpoints, planEndpoints],
      [dividedEndpointSlices, planEndpointSlices],
    ] as const) {
      const { value, turns } = countTurns<readonly unknown[]>(plan(service, world));
      expect(turns).toBeGreaterThan(200);
      expect(written(value)).toEqual(written(alone(service, view)));
    }
  });

  it('is made in many turns for subsets that a client wrote, and for the slices of them', () => {
    const { world, view } = scene({ ports: 1, pods: 0 });
    world.put(Service, { metadata: key, spec: { clusterIP: '10.0.0.1', ports: [] } });
    const subsets = listOf(100, (at) => ({
      addresses: [{ ip: `10.0.0.${at}` }],
      ports: [{ ...TCP, name: `p${at}`, port: at + 1 }],
    }));
    const endpoints = world.put(Endpoints, { metadata: { ...key, uid: 'e' }, subsets });
    const { value, turns } = countTurns(dividedMirroring(endpoints, { ...view, pace }));
    // Turns are taken for subsets, for their ports and addresses, and for slices.
    expect(turns).toBeGreaterThan(700);
    expect(value).toEqual(planMirroring(endpoints, view));
  });

  it('looks at the ports of a pod once, until the pod changes', () => {
    const { service, view, world } = scene({ ports: 2, pods: 50, named: true });
    let looks = 0;
    const watched = (name: string) => {
      const pod = world.of(Pod).get(name, 'x');
      const spec = {
        ...pod.spec,
        get containers() {
          looks++;
          return pod.spec.containers;
        },
      };
      world.put(Pod, Object.defineProperty({ ...pod }, 'spec', { value: spec, enumerable: true }));
    };
    const names = view
      .of(Pod)
      .list('x')
      .map(({ metadata }: any) => metadata.name);
    for (const name of names) watched(name);
    looks = 0;
    planEndpoints(service, view);
    planEndpointSlices(service, view);
    expect(looks).toBe(50);
    world.put(Pod, { ...world.of(Pod).get('pod-7', 'x') });
    looks = 0;
    planEndpoints(service, view);
    expect(looks).toBe(1);
  });
});
