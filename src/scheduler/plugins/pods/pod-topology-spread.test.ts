import { describe, expect, it } from 'vitest';
import { nodeObject, podObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { fromLabels } from '../../../schema/selector/selector.ts';
import { podTopologySpread } from './pod-topology-spread.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const SKEWED = "node(s) didn't match pod topology spread constraints";
const UNLABELLED = `${SKEWED} (missing required label)`;

const web = { labels: { app: 'web' } };
const zone = (name: string, value: string, rest: object = {}) =>
  nodeObject(name, { labels: { [ZONE]: value }, ...rest });

const spread = (constraint: object = {}, spec: object = {}) => {
  const usual = { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule' };
  const labelSelector = { matchLabels: web.labels };
  return { ...web, spec: { ...spec, topologySpreadConstraints: [{ ...usual, labelSelector, ...constraint }] } };
};

describe('a hard constraint', () => {
  it('limits the skew to the domain with the fewest pods', () => {
    const world = new TestWorld([zone('a', 'east'), zone('b', 'west'), nodeObject('lost')]);
    world.place('a', web);
    expect(world.verdicts(podTopologySpread, podOf(spread()))).toEqual({ a: SKEWED, b: 'fits', lost: UNLABELLED });
    expect(world.verdicts(podTopologySpread, podOf(spread({ maxSkew: 2 })))).toEqual({
      a: 'fits',
      b: 'fits',
      lost: UNLABELLED,
    });
  });

  it('finds no node with a label that is named like a property of every object', () => {
    const world = new TestWorld([zone('a', 'east'), zone('b', 'west')]);
    const verdicts = world.verdicts(podTopologySpread, podOf(spread({ topologyKey: 'constructor' })));
    expect(verdicts).toEqual({ a: UNLABELLED, b: UNLABELLED });
  });

  it('does not count pods of other namespaces, other pods, and terminating pods', () => {
    const world = new TestWorld([zone('a', 'east'), zone('b', 'west')]);
    const leaving = { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 } };
    world.place('a', { ...web, namespace: 'other' }, { labels: { app: 'db' } }, { ...web, ...leaving });
    expect(world.verdicts(podTopologySpread, podOf(spread()))).toEqual({ a: 'fits', b: 'fits' });
  });

  it('does not count a pod that its own selector does not match', () => {
    const world = new TestWorld([zone('a', 'east'), zone('b', 'west')]);
    world.place('a', web);
    const stranger = { ...spread(), labels: { app: 'db' } };
    expect(world.verdicts(podTopologySpread, podOf(stranger))).toEqual({ a: 'fits', b: 'fits' });
  });

  it('assumes an empty domain while there are fewer than minDomains', () => {
    const world = new TestWorld([zone('a', 'east'), zone('b', 'west')]);
    world.place('a', web);
    world.place('b', web);
    expect(world.verdicts(podTopologySpread, podOf(spread()))).toEqual({ a: 'fits', b: 'fits' });
    expect(world.verdicts(podTopologySpread, podOf(spread({ minDomains: 3 })))).toEqual({ a: SKEWED, b: SKEWED });
  });

  it('honors nodeAffinityPolicy and nodeTaintsPolicy', () => {
    const taints = [{ key: 'x', effect: 'NoSchedule' }];
    const world = new TestWorld([zone('a', 'east'), zone('b', 'west', { spec: { taints } }), zone('c', 'north')]);
    world.place('a', web);
    world.place('c', web);
    const verdict = (constraint: object, spec: object = {}) => {
      return (world.verdicts(podTopologySpread, podOf(spread(constraint, spec))) as Record<string, string>).a;
    };
    expect(verdict({})).toBe(SKEWED);
    expect(verdict({ nodeTaintsPolicy: 'Honor' })).toBe('fits');
    const nodeSelector = { [ZONE]: 'east' };
    expect(verdict({}, { nodeSelector })).toBe('fits');
    expect(verdict({ nodeAffinityPolicy: 'Ignore' }, { nodeSelector })).toBe(SKEWED);
  });
});

describe('a soft constraint', () => {
  it('prefers emptier domains', () => {
    const world = new TestWorld([zone('a', 'east'), zone('b', 'west')]);
    world.place('a', web, web, web);
    world.place('b', web);
    const scores = world.scores(podTopologySpread, podOf(spread({ whenUnsatisfiable: 'ScheduleAnyway' })));
    expect(scores.b).toBe(100);
    expect(scores.a).toBeLessThan(50);
  });

  it('scores nodes without the label 0', () => {
    const world = new TestWorld([zone('a', 'east'), nodeObject('lost')]);
    const scores = world.scores(podTopologySpread, podOf(spread({ whenUnsatisfiable: 'ScheduleAnyway' })));
    expect(scores).toEqual({ a: 100, lost: 0 });
  });

  it('applies by default to pods of a service or controller, over nodes and zones', () => {
    const world = new TestWorld([zone('a', 'east'), zone('a2', 'east'), zone('b', 'west'), nodeObject('lost')]);
    expect(world.scores(podTopologySpread, podOf(web))).toEqual({});
    world.siblingSelector = fromLabels(web.labels);
    world.place('a', web, web);
    const scores = world.scores(podTopologySpread, podOf(web));
    expect(scores.b).toBeGreaterThan(scores.a2!);
    expect(scores.a2).toBeGreaterThan(scores.a!);
  });

  it('counts each node separately when the label is the host name', () => {
    const world = new TestWorld([nodeObject('a'), nodeObject('b')]);
    world.place('a', web);
    const pod = podOf(spread({ whenUnsatisfiable: 'ScheduleAnyway', topologyKey: HOST }));
    const scores = world.scores(podTopologySpread, pod);
    expect(scores.b).toBeGreaterThan(scores.a!);
  });
});

it('is woken by pods and nodes that change the balance', () => {
  const world = new TestWorld();
  const { Pod, Node } = podTopologySpread.hints!;
  const pod = podOf(spread());
  const gone = (parts: object) => ({ resource: 'Pod', type: 'delete', object: podObject(parts) }) as const;
  expect(Pod!(gone(web), pod, world)).toBe(true);
  expect(Pod!(gone({ labels: { app: 'db' } }), pod, world)).toBe(false);
  expect(Pod!(gone({ ...web, namespace: 'other' }), pod, world)).toBe(false);
  expect(Node!({ resource: 'Node', type: 'add', object: zone('n', 'north') }, pod, world)).toBe(true);
  expect(Node!({ resource: 'Node', type: 'add', object: nodeObject('n') }, pod, world)).toBe(false);
  expect(Node!({ resource: 'Node', type: 'delete', object: zone('n', 'north') }, pod, world)).toBe(true);
});
