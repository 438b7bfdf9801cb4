import { expect, it } from 'vitest';
import { podObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { MAX_NODE_SELECTION, MAX_SELECTION } from '../../cluster/selection.ts';
import { selectorLimit } from './selector-limit.ts';

const MESSAGE = "the pod's affinity terms and spread constraints have more than 250 requirements";
const listOf = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));
const requirement = (index: number) => ({ key: 'app', operator: 'NotIn', values: [`v${index}`] });
const term = (requirements: number) => ({
  topologyKey: 'zone',
  labelSelector: { matchExpressions: listOf(requirements, requirement) },
});
const required = (...terms: object[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const preferred = (...terms: object[]) => ({
  preferredDuringSchedulingIgnoredDuringExecution: terms.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm })),
});
const requiredNodes = (...nodeSelectorTerms: object[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
});
const preferredNodes = (...terms: object[]) => ({
  preferredDuringSchedulingIgnoredDuringExecution: terms.map((preference) => ({ weight: 1, preference })),
});
const spread = (index: number) => ({
  ...term(0),
  ...{ topologyKey: `zone-${index}`, maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' },
});

it.each<[string, object]>([
  ['required terms', { affinity: { podAffinity: required(...listOf(MAX_SELECTION + 1, () => term(0))) } }],
  ['preferred terms', { affinity: { podAntiAffinity: preferred(...listOf(MAX_SELECTION + 1, () => term(0))) } }],
  ['requirements of a term', { affinity: { podAntiAffinity: required(term(MAX_SELECTION)) } }],
  [
    'requirements on namespaces',
    {
      affinity: {
        podAffinity: required({ ...term(0), namespaceSelector: term(MAX_SELECTION).labelSelector }),
      },
    },
  ],
  ['spread constraints', { topologySpreadConstraints: listOf(MAX_SELECTION + 1, spread) }],
])('a pod with too many %s is not scheduled', (_, spec) => {
  expect(new TestWorld().verdicts(selectorLimit, podOf({ spec }))).toBe(MESSAGE);
});

const nodeTerm = (requirements: number) => ({ matchExpressions: listOf(requirements, requirement) });

it.each<[string, object]>([
  ['required terms', { ...requiredNodes(...listOf(MAX_NODE_SELECTION / 2 + 1, () => nodeTerm(1))) }],
  ['requirements of a term', { ...requiredNodes(nodeTerm(MAX_NODE_SELECTION)) }],
  ['preferred terms', { ...preferredNodes(...listOf(MAX_NODE_SELECTION / 2 + 1, () => nodeTerm(1))) }],
])('a pod with too many %s of node affinity is not scheduled', (_, nodeAffinity) => {
  const spec = { affinity: { nodeAffinity } };
  const message = "the pod's node affinity has more than 500 requirements";
  expect(new TestWorld().verdicts(selectorLimit, podOf({ spec }))).toBe(message);
});

it('does not count the values of node affinity, which may name every node', () => {
  const names = { key: 'kubernetes.io/hostname', operator: 'In', values: listOf(5_000, (index) => `node-${index}`) };
  const spec = { affinity: { nodeAffinity: requiredNodes({ matchExpressions: [names] }) } };
  expect(new TestWorld().isSkipped(selectorLimit, podOf({ spec }))).toBe(true);
});

it('does not concern other pods, and is woken when a pod has become one', () => {
  const few = { name: 'a', spec: { affinity: { podAffinity: required(term(MAX_SELECTION - 1)) } } };
  const many = { name: 'a', spec: { affinity: { podAffinity: required(term(MAX_SELECTION)) } } };
  const world = new TestWorld();
  expect(world.isSkipped(selectorLimit, podOf())).toBe(true);
  expect(world.isSkipped(selectorLimit, podOf(few))).toBe(true);
  const { Pod } = selectorLimit.hints!;
  const update = { resource: 'Pod', type: 'update', object: podObject(few), old: podObject(many) } as const;
  expect(Pod!(update, podOf(many), world)).toBe(true);
  expect(Pod!({ ...update, object: podObject(many) }, podOf(many), world)).toBe(false);
});
