import { describe, expect, it } from 'vitest';
import { nodeObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { nodeAffinity } from './node-affinity.ts';

const world = new TestWorld([
  nodeObject('a', { labels: { zone: 'east', disk: 'ssd', slots: '8' } }),
  nodeObject('b', { labels: { zone: 'west', slots: '2' } }),
]);
const MISMATCH = "node(s) didn't match Pod's node affinity/selector";

function requiring(...nodeSelectorTerms: object[]) {
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms };
  return podOf({ spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } } });
}

function fitting(...terms: object[]): string[] {
  const verdicts = world.verdicts(nodeAffinity, requiring(...terms)) as Record<string, string>;
  return Object.keys(verdicts).filter((name) => verdicts[name] === 'fits');
}

const where = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }],
});

it('skips a pod without selector and affinity', () => {
  expect(world.isSkipped(nodeAffinity, podOf())).toBe(true);
});

it('matches the node selector with labels', () => {
  const pod = podOf({ spec: { nodeSelector: { zone: 'east', disk: 'ssd' } } });
  expect(world.verdicts(nodeAffinity, pod)).toEqual({ a: 'fits', b: MISMATCH });
});

describe('required affinity', () => {
  it.each([
    ['In', where('zone', 'In', 'east', 'north'), ['a']],
    ['NotIn', where('zone', 'NotIn', 'east'), ['b']],
    ['NotIn, where the label is missing', where('disk', 'NotIn', 'hdd'), ['a', 'b']],
    ['Exists', where('disk', 'Exists'), ['a']],
    ['DoesNotExist', where('disk', 'DoesNotExist'), ['b']],
    ['Gt', where('slots', 'Gt', '4'), ['a']],
    ['Lt', where('slots', 'Lt', '4'), ['b']],
    ['Gt of what is no number', where('zone', 'Gt', '4'), []],
    ['no requirement at all', {}, []],
  ])('knows %s', (_, term, nodes) => {
    expect(fitting(term)).toEqual(nodes);
  });

  it('needs one of its terms, with all its requirements', () => {
    expect(fitting(where('disk', 'Exists'), where('zone', 'In', 'west'))).toEqual(['a', 'b']);
    const both = {
      matchExpressions: [...where('disk', 'Exists').matchExpressions, ...where('zone', 'In', 'west').matchExpressions],
    };
    expect(fitting(both)).toEqual([]);
  });

  it('evaluates only the nodes that it names', () => {
    const named = (name: string) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] });
    expect(world.verdicts(nodeAffinity, requiring(named('b')))).toEqual({ a: 'not looked at', b: 'fits' });
    const both = { matchFields: [...named('a').matchFields, ...named('b').matchFields] };
    expect(world.verdicts(nodeAffinity, requiring(both))).toBe('pod affinity terms conflict');
  });
});

it('scores nodes by the weights of preferred terms', () => {
  const preferredDuringSchedulingIgnoredDuringExecution = [
    { weight: 30, preference: where('zone', 'In', 'east') },
    { weight: 10, preference: where('disk', 'Exists') },
    { weight: 20, preference: where('zone', 'In', 'west') },
  ];
  const pod = podOf({ spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } } } });
  expect(world.scores(nodeAffinity, pod)).toEqual({ a: 100, b: 50 });
});

it('is woken by nodes that begin to match', () => {
  const { Node } = nodeAffinity.hints!;
  const pod = podOf({ spec: { nodeSelector: { disk: 'ssd' } } });
  const plain = nodeObject('c');
  const labelled = nodeObject('c', { labels: { disk: 'ssd' } });
  expect(Node!({ resource: 'Node', type: 'update', object: labelled, old: plain }, pod, world)).toBe(true);
  expect(Node!({ resource: 'Node', type: 'update', object: labelled, old: labelled }, pod, world)).toBe(false);
  expect(Node!({ resource: 'Node', type: 'add', object: plain }, pod, world)).toBe(false);
});
