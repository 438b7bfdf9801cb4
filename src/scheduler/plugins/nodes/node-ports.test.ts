import { expect, it } from 'vitest';
import { nodeObject, podObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { nodePorts } from './node-ports.ts';

const TAKEN = "node(s) didn't have free ports for the requested pod ports";

const on = (hostPort: number, rest: object = {}) => ({
  spec: { containers: [{ name: 'a', image: 'b', ports: [{ containerPort: 80, hostPort, ...rest }] }] },
});

it.each([
  ['the same port', on(80), on(80), TAKEN],
  ['another port', on(80), on(81), 'fits'],
  ['another protocol', on(80), on(80, { protocol: 'UDP' }), 'fits'],
  ['another address', on(80, { hostIP: '10.0.0.1' }), on(80, { hostIP: '10.0.0.2' }), 'fits'],
  ['one address of all', on(80), on(80, { hostIP: '10.0.0.2' }), TAKEN],
  ['all addresses, of which one is taken', on(80, { hostIP: '10.0.0.2' }), on(80), TAKEN],
])('rejects or takes %s', (_, there, wanted, verdict) => {
  const world = new TestWorld([nodeObject('a')]);
  world.place('a', there);
  expect(world.verdicts(nodePorts, podOf(wanted))).toEqual({ a: verdict });
});

it('counts the ports of sidecars, and frees ports when their last pod goes', () => {
  const world = new TestWorld([nodeObject('a')]);
  const [container] = on(80).spec.containers;
  const initContainers = [{ ...container, name: 'side', restartPolicy: 'Always' }];
  const [pod] = world.place('a', { spec: { initContainers } });
  expect(world.verdicts(nodePorts, podOf(on(80)))).toEqual({ a: TAKEN });
  world.cluster.remove(pod!.uid);
  expect(world.verdicts(nodePorts, podOf(on(80)))).toEqual({ a: 'fits' });
});

const SHARED = { annotations: { 'node.kubernetes.io/pod-network': 'node' } };
const declares = (containerPort: number) => ({
  spec: { containers: [{ name: 'a', image: 'b', ports: [{ containerPort }] }] },
});

it('counts every port that a pod declares where pods share the network of the node', () => {
  const world = new TestWorld([nodeObject('own'), nodeObject('shared', SHARED)]);
  for (const node of ['own', 'shared']) world.place(node, declares(80));
  expect(world.verdicts(nodePorts, podOf(declares(80)))).toEqual({ own: 'fits', shared: TAKEN });
  expect(world.verdicts(nodePorts, podOf(on(80)))).toEqual({ own: 'fits', shared: TAKEN });
  expect(world.verdicts(nodePorts, podOf(declares(81)))).toEqual({ own: 'fits', shared: 'fits' });
});

it('counts again when a node says that its pods share its network', () => {
  const world = new TestWorld([nodeObject('a')]);
  world.place('a', declares(80));
  expect(world.isSkipped(nodePorts, podOf(declares(80)))).toBe(true);
  world.cluster.setNode(nodeObject('a', SHARED));
  expect(world.verdicts(nodePorts, podOf(declares(80)))).toEqual({ a: TAKEN });
  world.cluster.setNode(nodeObject('a'));
  expect(world.isSkipped(nodePorts, podOf(declares(80)))).toBe(true);
});

it('skips a pod without host ports, and is woken by pods that free one', () => {
  const world = new TestWorld();
  expect(world.isSkipped(nodePorts, podOf())).toBe(true);
  const { Pod } = nodePorts.hints!;
  const gone = (hostPort: number) => ({ resource: 'Pod', type: 'delete', object: podObject(on(hostPort)) }) as const;
  expect(Pod!(gone(80), podOf(on(80)), world)).toBe(true);
  expect(Pod!(gone(81), podOf(on(80)), world)).toBe(false);
});
