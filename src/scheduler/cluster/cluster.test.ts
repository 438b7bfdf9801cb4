import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { nodeObject, podOf } from '../../../test/support/scheduler/test-world.ts';
import { Cluster } from './cluster.ts';
import type { PodQuery } from './pod-counts.ts';
import type { PodInfo } from './pod-info.ts';
import type { TermGroup } from './term-index.ts';

const ZONE = 'topology.kubernetes.io/zone';
const query: PodQuery = {
  key: 'web',
  namespaces: new Set(['default']),
  matches: ({ labels }) => labels.app === 'web',
};

/** Eight pods: each is web or not, in one of two namespaces, and excludes others or not. */
const pods = Array.from({ length: 8 }, (_, index) => podIn(index, 'first'));

/** States of the same pods: with another label, with other requests, or with a change that does not count. */
const STATES = ['first', 'relabelled', 'resized', 'running'] as const;
const states = pods.map((_, index) => STATES.map((state) => podIn(index, state)));

function podIn(index: number, state: (typeof STATES)[number]): PodInfo {
  const term = { topologyKey: ZONE, labelSelector: { matchLabels: { app: 'web' } } };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  return podOf({
    name: `p${index}`,
    namespace: index & 1 ? 'default' : 'other',
    labels: { app: Boolean(index & 2) === (state !== 'relabelled') ? 'web' : 'db' },
    requests: { cpu: `${index + (state === 'resized' ? 2 : 1)}m`, memory: `${index}Mi` },
    spec: index & 4 ? { affinity } : {},
  });
}

const place = fc.record({
  type: fc.constant('place' as const),
  pod: fc.nat(7),
  state: fc.nat(3),
  node: fc.nat(2),
  assumed: fc.boolean(),
});
const step = fc.oneof(
  { weight: 4, arbitrary: place },
  fc.record({ type: fc.constant('remove' as const), pod: fc.nat(7) }),
  fc.record({ type: fc.constant('forget' as const), pod: fc.nat(7) }),
  fc.record({ type: fc.constant('set' as const), node: fc.nat(2), zone: fc.constantFrom('east', 'west', undefined) }),
  fc.record({ type: fc.constant('drop' as const), node: fc.nat(2) }),
);

it('the cluster has the same sums after any changes as when rebuilt', () => {
  forAll({ numRuns: 300 }, fc.array(step, { maxLength: 40 }), (steps) => {
    const cluster = new Cluster();
    const counts = cluster.count(query);
    counts.in(ZONE);
    const zones = new Map<string, string | undefined>();
    const where = new Map<PodInfo, { node: string; assumed: boolean }>();
    const setNode = (name: string, zone: string | undefined) => {
      cluster.setNode(nodeObject(name, { labels: zone ? { [ZONE]: zone } : {} }));
      zones.set(name, zone);
    };
    for (const name of ['n0', 'n1']) setNode(name, 'east');
    const placed = ({ uid }: PodInfo) => [...where.keys()].find((pod) => pod.uid === uid);
    for (const each of steps) {
      const name = 'node' in each ? `n${each.node}` : '';
      switch (each.type) {
        case 'place': {
          const pod = states[each.pod]![each.state]!;
          if (each.assumed) cluster.assume(pod, name);
          else cluster.place(pod, name);
          where.delete(placed(pod)!);
          where.set(pod, { node: name, assumed: each.assumed });
          break;
        }
        case 'remove':
          cluster.remove(pods[each.pod]!.uid);
          where.delete(placed(pods[each.pod]!)!);
          break;
        case 'forget':
          cluster.forget(pods[each.pod]!.uid);
          if (where.get(placed(pods[each.pod]!)!)?.assumed) where.delete(placed(pods[each.pod]!)!);
          break;
        case 'set':
          setNode(name, each.zone);
          break;
        case 'drop':
          cluster.removeNode(name);
          zones.delete(name);
          break;
      }
    }
    const on = (node: string) => [...where].filter(([, place]) => place.node === node).map(([pod]) => pod);
    expect(cluster.nodes.map(({ name }) => name).sort()).toEqual([...zones.keys()].sort());
    for (const node of cluster.nodes) {
      const here = on(node.name);
      expect([...node.pods.values()].sort(byUid)).toEqual([...here].sort(byUid));
      expect(node.cpu).toBe(here.reduce((sum, { requests }) => sum + requests.cpu, 0));
      expect(node.freeKiB).toBe(8 * 2 ** 20 - here.reduce((sum, { requests }) => sum + requests.kiB, 0));
      expect(node.freePods).toBe(10 - here.length);
    }
    const tally = (matches: (pod: PodInfo) => boolean) => {
      const sums = new Map<string, number>();
      for (const [pod, { node }] of where) {
        const zone = zones.get(node);
        if (zone !== undefined && matches(pod)) sums.set(zone, (sums.get(zone) ?? 0) + 1);
      }
      return sums;
    };
    expect(counts.in(ZONE)).toEqual(tally((pod) => pod.namespace === 'default' && pod.labels.app === 'web'));
    const keptAway = groupsFor(cluster, { app: 'web' }).find(({ term }) => term.namespaces.has('default'))?.weights;
    expect(groupsFor(cluster, { app: 'db' })).toEqual([]);
    const wanted = tally((pod) => pod.namespace === 'default' && pod.terms.requiredAnti.length > 0);
    expect(keptAway ?? new Map()).toEqual(wanted);
  });
});

function groupsFor({ antiTerms }: Cluster, labels: Record<string, string>): TermGroup[] {
  const found: TermGroup[] = [];
  antiTerms.each(labels, (group) => found.push(group));
  return found;
}

it('terms are found by the label that they require, and others always', () => {
  const cluster = new Cluster();
  cluster.setNode(nodeObject('n', { labels: { [ZONE]: 'east' } }));
  const selectors = [
    ...Array.from({ length: 100 }, (_, index) => ({ matchLabels: { app: `a${index}` } })),
    { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
  ];
  const terms = selectors.map((labelSelector) => ({ topologyKey: ZONE, labelSelector }));
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
  const pod = podOf({ spec: { affinity } });
  cluster.place(pod, 'n');
  expect(groupsFor(cluster, { app: 'a7' })).toHaveLength(2);
  expect(groupsFor(cluster, {})).toHaveLength(1);
  cluster.remove(pod.uid);
  expect(cluster.antiTerms.isEmpty).toBe(true);
  expect(groupsFor(cluster, { app: 'a7' })).toEqual([]);
});

it('the terms of a pod that was bound by a client and has thousands do not count', () => {
  const cluster = new Cluster();
  cluster.setNode(nodeObject('n', { labels: { [ZONE]: 'east' } }));
  const terms = Array.from({ length: 1_000 }, (_, index) => ({
    topologyKey: ZONE,
    labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [`v${index}`] }] },
  }));
  const required = { requiredDuringSchedulingIgnoredDuringExecution: terms };
  cluster.place(podOf({ spec: { nodeName: 'n', affinity: { podAntiAffinity: required } } }), 'n');
  expect(cluster.antiTerms.isEmpty).toBe(true);
});

const byUid = (a: PodInfo, b: PodInfo) => (a.uid < b.uid ? -1 : 1);

it('interleaves nodes by zone', () => {
  const cluster = new Cluster();
  for (const [name, zone] of Object.entries({ a1: 'a', a2: 'a', a3: 'a', b1: 'b', c1: 'c', c2: 'c' })) {
    cluster.setNode(nodeObject(name, { labels: { [ZONE]: zone } }));
  }
  expect(cluster.nodes.map(({ name }) => name)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});
