import { expect, it } from 'vitest';
import { podObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { MAX_SELECTION, selectorLimit } from './selector-limit.ts';

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
