import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { nodeObject, podObject, podOf, TestWorld } from '../../../test/support/scheduler/test-world.ts';
import { systemRandom } from '../../base/random.ts';
import { PodInfo } from '../cluster/pod-info.ts';
import type { Node, Pod } from '../objects.ts';
import { plugins } from '../plugins/all.ts';
import { decide, feasibleNodesToFind } from './decide.ts';
import { failureMessage } from './diagnosis.ts';

const first = { ...systemRandom, int: () => 0 };
const options = (world: TestWorld) => ({ plugins, world, position: { next: 0 }, random: first });

function nodeFor(world: TestWorld, pod: PodInfo): string | undefined {
  const decision = decide(pod, options(world));
  return decision.type === 'node' ? decision.node.name : undefined;
}

describe('a decision', () => {
  it('explains every rejected node in the words of Kubernetes', () => {
    const taints = [{ key: 'x', effect: 'NoSchedule' }];
    const world = new TestWorld([
      nodeObject('a'),
      nodeObject('b', { spec: { taints } }),
      nodeObject('c', { spec: { taints } }),
    ]);
    const decision = decide(podOf({ requests: { cpu: '9' } }), options(world));
    expect(decision.type === 'none' && failureMessage(decision.diagnosis)).toBe(
      '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).',
    );
  });

  it('explains when one plugin rejects all nodes, and nodes that were not named', () => {
    const world = new TestWorld([nodeObject('a'), nodeObject('b')]);
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
    const without = decide(podOf({ spec: { volumes } }), options(world));
    expect(without.type === 'none' && failureMessage(without.diagnosis)).toBe(
      '0/2 nodes are available: persistentvolumeclaim "data" not found.',
    );
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['a'] }];
    const required = { nodeSelectorTerms: [{ matchFields }] };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
    const named = decide(podOf({ requests: { cpu: '9' }, spec: { affinity: { nodeAffinity } } }), options(world));
    expect(named.type === 'none' && failureMessage(named.diagnosis)).toBe(
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    );
  });

  it('evaluates a share of the nodes in a large cluster, and continues where it stopped', () => {
    expect([50, 99, 100, 500, 1_000, 5_000, 6_000, 10_000].map(feasibleNodesToFind)).toEqual([
      50, 99, 100, 230, 420, 500, 300, 500,
    ]);
    const world = new TestWorld(Array.from({ length: 150 }, (_, index) => nodeObject(`n${index}`)));
    const position = { next: 0 };
    decide(podOf(), { ...options(world), position });
    expect(position.next).toBe(100);
    decide(podOf(), { ...options(world), position });
    expect(position.next).toBe(50);
  });

  it('breaks ties at random', () => {
    const world = new TestWorld([nodeObject('a'), nodeObject('b'), nodeObject('c')]);
    const chosen = [0, 1, 2].map((int) => {
      const decision = decide(podOf(), { ...options(world), random: { ...systemRandom, int: () => int } });
      return decision.type === 'node' && decision.node.name;
    });
    expect(chosen).toEqual(['a', 'b', 'c']);
  });
});

const urgent = podOf({ name: 'urgent', requests: { cpu: '3' }, spec: { priority: 10 } });

it('nominated pods keep their resources from pods of no higher priority', () => {
  const world = new TestWorld([nodeObject('a')]);
  world.cluster.nominations.set(urgent, 'a');
  expect(nodeFor(world, podOf({ requests: { cpu: '2' } }))).toBeUndefined();
  expect(nodeFor(world, podOf({ requests: { cpu: '1' } }))).toBe('a');
  expect(nodeFor(world, podOf({ requests: { cpu: '2' }, spec: { priority: 20 } }))).toBe('a');
  expect(world.cluster.node('a')!.pods.size).toBe(0);
});

it('nominated pods go to their nominated node, whatever others score', () => {
  const world = new TestWorld([nodeObject('a'), nodeObject('b')]);
  world.place('b', { requests: { cpu: '1' } });
  world.cluster.nominations.set(urgent, 'b');
  expect(nodeFor(world, urgent)).toBe('b');
  world.place('b', { requests: { cpu: '1' } });
  expect(nodeFor(world, urgent)).toBe('a');
});

/** Evaluates the rules anew from the objects alone: slow, and sharing no code with the plugins. */
function mayGo(pod: Pod, node: Node, placed: readonly { pod: Pod; node: Node }[]): boolean {
  const labels = node.metadata.labels ?? {};
  const here = placed.filter((each) => each.node === node).map((each) => each.pod);
  const cpu = (each: Pod) => Number(each.spec.containers[0]!.resources.requests?.cpu ?? 0);
  const ports = (each: Pod) => each.spec.containers.flatMap(({ ports = [] }) => ports.map(({ hostPort }) => hostPort));
  const has = (each: Pod, selector: { matchLabels?: Readonly<Record<string, string>> } | undefined) =>
    Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => each.metadata.labels?.[key] === value);
  const terms = (each: Pod, sort: 'podAffinity' | 'podAntiAffinity') =>
    each.spec.affinity?.[sort]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const sameDomain = (key: string, other: Node) =>
    labels[key] !== undefined && labels[key] === other.metadata.labels?.[key];

  if (here.length + 1 > Number(node.status.allocatable!.pods)) return false;
  if (cpu(pod) > 0 && here.reduce((sum, each) => sum + cpu(each), cpu(pod)) > Number(node.status.allocatable!.cpu))
    return false;
  if (node.spec.unschedulable) return false;
  for (const taint of node.spec.taints ?? []) {
    if (!pod.spec.tolerations?.some(({ key }) => key === taint.key)) return false;
  }
  for (const [key, value] of Object.entries(pod.spec.nodeSelector ?? {})) if (labels[key] !== value) return false;
  if (ports(pod).some((port) => port && here.some((each) => ports(each).includes(port)))) return false;

  for (const { topologyKey, labelSelector } of terms(pod, 'podAntiAffinity')) {
    if (placed.some((each) => has(each.pod, labelSelector) && sameDomain(topologyKey, each.node))) return false;
  }
  for (const each of placed) {
    for (const { topologyKey, labelSelector } of terms(each.pod, 'podAntiAffinity')) {
      if (has(pod, labelSelector) && sameDomain(topologyKey, each.node)) return false;
    }
  }
  const wanted = terms(pod, 'podAffinity');
  if (wanted.some(({ topologyKey }) => labels[topologyKey] === undefined)) return false;
  const liked = placed.filter((each) => wanted.every(({ labelSelector }) => has(each.pod, labelSelector)));
  const isNear = wanted.every(({ topologyKey }) => liked.some((each) => sameDomain(topologyKey, each.node)));
  const isFirst =
    !liked.some((each) => wanted.some(({ topologyKey }) => each.node.metadata.labels?.[topologyKey] !== undefined)) &&
    wanted.every(({ labelSelector }) => has(pod, labelSelector));
  return wanted.length === 0 || isNear || isFirst;
}

const ZONE = 'topology.kubernetes.io/zone';
const app = fc.constantFrom('a', 'b', 'c');
const rarely = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 2, nil: undefined });

const nodes = fc
  .array(
    fc.record({
      zone: rarely(fc.constantFrom('east', 'west')),
      cpu: fc.integer({ min: 1, max: 4 }),
      pods: fc.integer({ min: 1, max: 4 }),
      taint: fc.option(fc.constantFrom('x', 'y'), { freq: 4, nil: undefined }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((list) =>
    list.map(({ zone, cpu, pods, taint }, index) =>
      nodeObject(`n${index}`, {
        labels: zone ? { [ZONE]: zone } : {},
        allocatable: { cpu: String(cpu), pods: String(pods) },
        spec: { unschedulable: index === 3, ...(taint ? { taints: [{ key: taint, effect: 'NoSchedule' }] } : {}) },
      }),
    ),
  );

const term = fc.record({
  topologyKey: fc.constantFrom(ZONE, 'kubernetes.io/hostname'),
  labelSelector: app.map((value) => ({ matchLabels: { app: value } })),
});
const terms = rarely(fc.array(term, { minLength: 1, maxLength: 2 }));

const pods = fc.array(
  fc
    .record({
      app,
      cpu: fc.integer({ min: 0, max: 3 }),
      port: rarely(fc.constantFrom(80, 81)),
      zone: rarely(fc.constantFrom('east', 'west')),
      tolerates: rarely(fc.constantFrom('x', 'y')),
      near: terms,
      far: terms,
      goes: fc.boolean(),
    })
    .map((parts) => ({ parts, pod: made(parts) })),
  { minLength: 1, maxLength: 12 },
);

interface Parts {
  readonly app: string;
  readonly cpu: number;
  readonly port: number | undefined;
  readonly zone: string | undefined;
  readonly tolerates: string | undefined;
  readonly near: object[] | undefined;
  readonly far: object[] | undefined;
}

function made({ app, cpu, port, zone, tolerates, near, far }: Parts): Pod {
  const required = (list: object[] | undefined) => ({ requiredDuringSchedulingIgnoredDuringExecution: list });
  const resources = cpu > 0 ? { requests: { cpu: String(cpu) } } : {};
  const ports = port ? [{ containerPort: port, hostPort: port }] : [];
  return podObject({
    labels: { app },
    spec: {
      containers: [{ name: 'main', image: 'busybox', resources, ports }],
      ...(zone ? { nodeSelector: { [ZONE]: zone } } : {}),
      ...(tolerates ? { tolerations: [{ key: tolerates, operator: 'Exists' }] } : {}),
      affinity: { podAffinity: required(near), podAntiAffinity: required(far) },
    },
  });
}

it('in any small cluster a pod gets a node if and only if one fits, and only a node that fits', () => {
  forAll({ numRuns: 400 }, nodes, pods, (all, list) => {
    const world = new TestWorld(all);
    let placed: { pod: Pod; node: Node }[] = [];
    for (const { pod, parts } of list) {
      const allowed = all.filter((node) => mayGo(pod, node, placed)).map(({ metadata }) => metadata.name);
      const chosen = nodeFor(world, new PodInfo(pod));
      if (chosen === undefined) expect(allowed).toEqual([]);
      else expect(allowed).toContain(chosen);
      const node = all.find(({ metadata }) => metadata.name === chosen);
      if (!node) continue;
      world.cluster.assume(new PodInfo(pod), chosen!);
      placed.push({ pod, node });
      if (!parts.goes) continue;
      const gone = placed[0]!;
      world.cluster.remove(gone.pod.metadata.uid!);
      placed = placed.slice(1);
    }
  });
});
