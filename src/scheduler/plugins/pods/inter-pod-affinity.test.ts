import { describe, expect, it } from 'vitest';
import { nodeObject, podObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { interPodAffinity } from './inter-pod-affinity.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const NOT_NEAR = "node(s) didn't match pod affinity rules";
const TOO_NEAR = "node(s) didn't match pod anti-affinity rules";
const UNWANTED = "node(s) didn't satisfy existing pods anti-affinity rules";

/** Two zones of two nodes each, and one node without a zone. */
const world = () =>
  new TestWorld([
    nodeObject('e1', { labels: { [ZONE]: 'east' } }),
    nodeObject('e2', { labels: { [ZONE]: 'east' } }),
    nodeObject('w1', { labels: { [ZONE]: 'west' } }),
    nodeObject('w2', { labels: { [ZONE]: 'west' } }),
    nodeObject('lost'),
  ]);

const term = (app: string, topologyKey = ZONE, rest: object = {}) => ({
  ...{ topologyKey, labelSelector: { matchLabels: { app } } },
  ...rest,
});
const required = (...terms: object[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const preferred = (weight: number, podAffinityTerm: object) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }],
});
const near = (...terms: object[]) => ({ spec: { affinity: { podAffinity: required(...terms) } } });
const far = (...terms: object[]) => ({ spec: { affinity: { podAntiAffinity: required(...terms) } } });

const all = (verdict: string) => ({ e1: verdict, e2: verdict, w1: verdict, w2: verdict, lost: verdict });

it('skips pods that no term concerns', () => {
  const here = world();
  here.place('e1', { labels: { app: 'db' } }, far(term('cache')));
  expect(here.isSkipped(interPodAffinity, podOf({ labels: { app: 'web' } }))).toBe(true);
});

describe('required affinity', () => {
  it('applies to the whole topology domain', () => {
    const here = world();
    here.place('e1', { labels: { app: 'db' } });
    expect(here.verdicts(interPodAffinity, podOf(near(term('db'))))).toEqual({
      ...all(NOT_NEAR),
      e1: 'fits',
      e2: 'fits',
    });
    expect(here.verdicts(interPodAffinity, podOf(near(term('db', HOST))))).toEqual({ ...all(NOT_NEAR), e1: 'fits' });
  });

  it('needs one pod that matches all terms, not one for each', () => {
    const here = world();
    here.place('e1', { labels: { app: 'db' } }, { labels: { app: 'db', tier: 'gold' } });
    const gold = { topologyKey: HOST, labelSelector: { matchLabels: { tier: 'gold' } } };
    const both = podOf(near(term('db'), gold));
    expect(here.verdicts(interPodAffinity, both)).toEqual({ ...all(NOT_NEAR), e1: 'fits' });
    const silver = { topologyKey: HOST, labelSelector: { matchLabels: { tier: 'silver' } } };
    here.place('e1', { labels: { tier: 'silver' } });
    expect(here.verdicts(interPodAffinity, podOf(near(term('db'), silver)))).toEqual(all(NOT_NEAR));
  });

  it('lets the first pod of a group go to any node with the label', () => {
    const pod = podOf({ ...near(term('web')), labels: { app: 'web' } });
    expect(world().verdicts(interPodAffinity, pod)).toEqual({ ...all('fits'), lost: NOT_NEAR });
    const here = world();
    here.place('w1', { labels: { app: 'web' } });
    expect(here.verdicts(interPodAffinity, pod)).toEqual({ ...all(NOT_NEAR), w1: 'fits', w2: 'fits' });
  });
});

const elsewhere = { namespace: 'other', labels: { app: 'db' } };

it.each([
  ['its own only', {}, []],
  ['those that it names', { namespaces: ['other'] }, ['e1', 'e2']],
  ['those with labels', { namespaceSelector: { matchLabels: { team: 'blue' } } }, ['e1', 'e2']],
  ['those with other labels', { namespaceSelector: { matchLabels: { team: 'red' } } }, []],
  ['all', { namespaceSelector: {} }, ['e1', 'e2']],
])('namespaces are %s', (_, rest, nodes) => {
  const here = world();
  here.labelsOfNamespaces.set('other', { team: 'blue' });
  here.place('e1', elsewhere);
  const verdicts = here.verdicts(interPodAffinity, podOf(near(term('db', ZONE, rest)))) as Record<string, string>;
  expect(Object.keys(verdicts).filter((name) => verdicts[name] === 'fits')).toEqual(nodes);
});

describe('required anti-affinity', () => {
  it('keeps the pod away from pods that its terms match', () => {
    const here = world();
    const [pod] = here.place('e1', { labels: { app: 'db' } });
    expect(here.verdicts(interPodAffinity, podOf(far(term('db'))))).toEqual({
      ...all('fits'),
      e1: TOO_NEAR,
      e2: TOO_NEAR,
    });
    here.cluster.remove(pod!.uid);
    expect(here.verdicts(interPodAffinity, podOf(far(term('db'))))).toEqual(all('fits'));
  });

  it('keeps the pod away from pods whose terms match it', () => {
    const here = world();
    here.place('w1', far(term('web')));
    expect(here.verdicts(interPodAffinity, podOf({ labels: { app: 'web' } }))).toEqual({
      ...all('fits'),
      w1: UNWANTED,
      w2: UNWANTED,
    });
  });

  it('follows a node that moves to another zone', () => {
    const here = world();
    here.place('e1', far(term('web')));
    const pod = podOf({ labels: { app: 'web' } });
    here.verdicts(interPodAffinity, pod);
    here.cluster.setNode(nodeObject('e1', { labels: { [ZONE]: 'west' } }));
    expect(here.verdicts(interPodAffinity, pod)).toEqual({ ...all(UNWANTED), e2: 'fits', lost: 'fits' });
    here.cluster.removeNode('e1');
    expect(here.isSkipped(interPodAffinity, pod)).toBe(true);
  });
});

describe('many terms of pods on nodes', () => {
  const APPS = 50;
  const terms = (topologyKey: string) =>
    Array.from({ length: APPS }, (_, index) => ({
      topologyKey,
      labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [`a${index}`] }] },
    }));
  const weighted = (weight: number, list: object[]) => ({
    preferredDuringSchedulingIgnoredDuringExecution: list.map((podAffinityTerm) => ({ weight, podAffinityTerm })),
  });

  it('exclude a pod as each of them would', () => {
    const here = world();
    here.place('w1', far(...terms(HOST)), far(...terms('rack')));
    expect(here.verdicts(interPodAffinity, podOf({ labels: { app: 'web' } }))).toEqual({
      ...all('fits'),
      w1: UNWANTED,
    });
  });

  it('are scored as their sum, and a node is looked up once for each label', () => {
    const here = world();
    here.place('e1', { spec: { affinity: { podAffinity: weighted(2, terms(ZONE)) } } });
    here.place('e2', { spec: { affinity: { podAntiAffinity: weighted(1, terms(HOST)) } } });
    const pod = podOf({ labels: { app: 'web' } });
    expect(here.scores(interPodAffinity, pod)).toEqual({ e1: 100, e2: 50, w1: 0, w2: 0, lost: 0 });
    expect(interPodAffinity.preScore!(pod, here, here.cluster.nodes)).toHaveLength(2);
  });
});

it('preferences count for and against, including those of pods on nodes', () => {
  const here = world();
  here.place('e1', { labels: { app: 'db' } });
  const wants = podOf({ spec: { affinity: { podAffinity: preferred(10, term('db')) } } });
  expect(here.scores(interPodAffinity, wants)).toEqual({ e1: 100, e2: 100, w1: 0, w2: 0, lost: 0 });
  const avoids = podOf({ spec: { affinity: { podAntiAffinity: preferred(10, term('db', HOST)) } } });
  expect(here.scores(interPodAffinity, avoids)).toEqual({ e1: 0, e2: 100, w1: 100, w2: 100, lost: 100 });
  const other = world();
  other.place('w1', { spec: { affinity: { podAffinity: preferred(5, term('web')) } } }, near(term('web', HOST)));
  const wanted = podOf({ labels: { app: 'web' } });
  expect(other.scores(interPodAffinity, wanted)).toEqual({ e1: 0, e2: 0, w1: 100, w2: 83, lost: 0 });
  expect(other.scores(interPodAffinity, podOf())).toEqual({});
});

describe('a rejected pod is woken', () => {
  const here = world();
  const { Pod, Node } = interPodAffinity.hints!;
  const db = podObject({ labels: { app: 'db' }, spec: { nodeName: 'e1' } });

  it('by added pods that affinity matches, and removed pods that anti-affinity matches', () => {
    const came = { resource: 'Pod', type: 'add', object: db } as const;
    const went = { resource: 'Pod', type: 'delete', object: db } as const;
    expect(Pod!(came, podOf(near(term('db'))), here)).toBe(true);
    expect(Pod!(came, podOf(near(term('cache'))), here)).toBe(false);
    expect(Pod!(came, podOf(far(term('db'))), here)).toBe(false);
    expect(Pod!(went, podOf(far(term('db'))), here)).toBe(true);
    expect(Pod!(went, podOf(far(term('cache'))), here)).toBe(false);
    const hater = podObject({ ...far(term('web')), name: 'hater' });
    expect(Pod!({ ...went, object: hater }, podOf({ labels: { app: 'web' } }), here)).toBe(true);
  });

  it('by nodes with the label', () => {
    const added = (labels: Record<string, string>) =>
      ({ resource: 'Node', type: 'add', object: nodeObject('n', { labels }) }) as const;
    expect(Node!(added({ [ZONE]: 'north' }), podOf(near(term('db'))), here)).toBe(true);
    expect(Node!(added({}), podOf(near(term('db'))), here)).toBe(false);
  });
});
