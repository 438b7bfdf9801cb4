import { describe, expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { planLoadBalancer } from './load-balancer.ts';

const SERVER_PORT = 6443;

function worldWith(...nodes: string[]): PlannerWorld {
  const world = new PlannerWorld();
  nodes.forEach((name, index) => {
    world.put(Node, {
      metadata: { name },
      status: {
        addresses: [{ type: 'InternalIP', address: `192.0.2.${index + 1}` }],
        conditions: [{ type: 'Ready', status: 'True' }],
        nodeInfo: { containerRuntimeVersion: 'containerd://1.6.20' },
      },
    });
  });
  return world;
}

function plan(world: PlannerWorld, spec: object = {}, announced: string[] = []) {
  const service = world.put(Service, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ipFamilies: ['IPv4'], ...spec },
    status: { loadBalancer: { ingress: announced.map((ip) => ({ ip })) } },
  });
  return planLoadBalancer(service, { of: world.of }, { serverPort: SERVER_PORT, now: new Date(0) });
}

const status = (...ips: string[]) => ({
  changes: { status: { loadBalancer: { ingress: ips.map((ip) => ({ ip, ipMode: 'VIP' })) } } },
});
const patches = (actions: ReturnType<typeof plan>) =>
  actions.filter(({ type }) => type !== 'event').map((action) => (action as unknown as { patch: unknown }).patch);

it('announces the addresses of all nodes, once', () => {
  expect(patches(plan(worldWith('a', 'b')))).toEqual([expect.objectContaining(status('192.0.2.1', '192.0.2.2'))]);
  expect(plan(worldWith('a', 'b'), {}, ['192.0.2.2', '192.0.2.1'])).toEqual([]);
});

it('services of another class and simulated clusters are left alone', () => {
  expect(plan(worldWith('a'), { loadBalancerClass: 'example.com/x' })).toEqual([]);
  const world = new PlannerWorld();
  world.put(Node, {
    metadata: { name: 's' },
    status: {
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { containerRuntimeVersion: 'simulated://1.36.4' },
    },
  });
  expect(plan(world, {}, ['203.0.113.1'])).toEqual([]);
});

it('an announcement, and nothing else, is withdrawn when the service is no load balancer any more', () => {
  expect(patches(plan(worldWith('a'), { type: 'ClusterIP' }, ['192.0.2.1']))).toEqual([
    expect.objectContaining(status()),
  ]);
  expect(plan(worldWith('a'), { type: 'ClusterIP' }, ['203.0.113.1'])).toEqual([]);
});

it('announces nodes with endpoints when traffic stays on the node', () => {
  const world = worldWith('a', 'b');
  world.put(EndpointSlice, {
    metadata: { name: 'web-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 80, protocol: 'TCP' }],
    endpoints: [
      { addresses: ['10.1.0.2'], nodeName: 'b', conditions: { ready: true } },
      { addresses: ['10.1.0.3'], nodeName: 'a', conditions: { ready: false } },
    ],
  });
  expect(patches(plan(world, { externalTrafficPolicy: 'Local' }))).toEqual([
    expect.objectContaining(status('192.0.2.2')),
  ]);
});

it('the port of the API server is not announced', () => {
  const actions = plan(worldWith('a'), { ports: [{ port: SERVER_PORT, protocol: 'TCP' }] });
  expect(actions.map(({ type }) => type)).toEqual(['event']);
});

describe('a port of a node that something else listens on', () => {
  const inUse = (world: PlannerWorld, name: string, ports: string) => {
    const node = world.of(Node).get(name)!;
    const annotations = { 'node.kubernetes.io/ports-in-use': ports };
    world.put(Node, { ...(node as object), metadata: { ...node.metadata, annotations } } as Partial<Node>);
    return world;
  };
  const condition = (message: string) => ({
    conditions: [expect.objectContaining({ type: 'PortInUse', status: 'True', reason: 'HostPortInUse', message })],
  });
  const statusOf = (actions: ReturnType<typeof plan>) =>
    (patches(actions)[0] as { changes: { status: unknown } }).changes.status;

  it('keeps the node from being announced, and is a condition of the service', () => {
    const world = inUse(worldWith('a', 'b'), 'a', 'TCP/22');
    expect(statusOf(plan(world, { ports: [{ port: 22, protocol: 'TCP' }] }))).toMatchObject({
      loadBalancer: { ingress: [{ ip: '192.0.2.2', ipMode: 'VIP' }] },
      ...condition('Something else listens on TCP/22 of node a'),
    });
  });

  it('is named as an error when the node serves other ports', () => {
    const world = inUse(worldWith('a'), 'a', 'TCP/22');
    const ports = [
      { port: 22, protocol: 'TCP' },
      { port: 80, protocol: 'TCP' },
    ];
    const failed = [{ ...ports[0], error: 'PortInUse' }, ports[1]];
    expect(statusOf(plan(world, { ports }))).toMatchObject({
      loadBalancer: { ingress: [{ ip: '192.0.2.1', ports: failed }] },
    });
  });

  it('is a condition of a service with a node port, and goes with its reason', () => {
    const world = inUse(worldWith('a'), 'a', 'TCP/30080');
    const spec = { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', nodePort: 30080 }] };
    expect(statusOf(plan(world, spec))).toEqual(condition('Something else listens on TCP/30080 of node a'));
    const service = world.put(Service, {
      metadata: { name: 'web', namespace: 'default' },
      spec,
      status: { conditions: [{ type: 'PortInUse', status: 'True' }] },
    } as unknown as Partial<Service>);
    inUse(world, 'a', '');
    const next = planLoadBalancer(service, { of: world.of }, { now: new Date(0) });
    expect(statusOf(next)).toEqual({ conditions: [] });
  });
});
