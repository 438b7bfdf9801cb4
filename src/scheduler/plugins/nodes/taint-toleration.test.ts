import { describe, expect, it } from 'vitest';
import { nodeObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { taintToleration } from './taint-toleration.ts';

const tainted = (name: string, ...taints: object[]) => nodeObject(name, { spec: { taints } });
const tolerating = (...tolerations: object[]) => podOf({ spec: { tolerations } });
const KEPT_OFF = 'node(s) had untolerated taint(s)';

describe('the filter', () => {
  const world = new TestWorld([
    nodeObject('clean'),
    tainted('dedicated', { key: 'dedicated', value: 'db', effect: 'NoSchedule' }),
    tainted('dying', { key: 'dying', effect: 'NoExecute' }),
    tainted('mild', { key: 'mild', effect: 'PreferNoSchedule' }),
  ]);

  it.each<[string, object[], string[]]>([
    ['nothing', [], ['dedicated', 'dying']],
    ['the key and value', [{ key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' }], ['dying']],
    ['another value', [{ key: 'dedicated', operator: 'Equal', value: 'web' }], ['dedicated', 'dying']],
    ['the key with any value', [{ key: 'dedicated', operator: 'Exists' }], ['dying']],
    ['another effect', [{ key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }], ['dedicated', 'dying']],
    ['everything', [{ operator: 'Exists' }], []],
    ['every taint of one effect', [{ operator: 'Exists', effect: 'NoExecute' }], ['dedicated']],
  ])('lets a pod that tolerates %s', (_, tolerations, rejected) => {
    const verdicts = world.verdicts(taintToleration, tolerating(...tolerations)) as Record<string, string>;
    const expected = Object.keys(verdicts).map((name) => [name, rejected.includes(name) ? KEPT_OFF : 'fits']);
    expect(verdicts).toEqual(Object.fromEntries(expected));
  });
});

it('lowers the score for every untolerated PreferNoSchedule taint', () => {
  const mild = (key: string) => ({ key, effect: 'PreferNoSchedule' });
  const world = new TestWorld([tainted('none'), tainted('one', mild('x')), tainted('two', mild('x'), mild('y'))]);
  expect(world.scores(taintToleration, podOf())).toEqual({ none: 100, one: 50, two: 0 });
  const toleration = { key: 'x', operator: 'Exists' };
  expect(world.scores(taintToleration, tolerating(toleration))).toEqual({ none: 100, one: 100, two: 0 });
});

it('is woken by nodes whose taints were removed', () => {
  const world = new TestWorld();
  const { Node } = taintToleration.hints!;
  const dirty = tainted('a', { key: 'x', effect: 'NoSchedule' });
  const clean = nodeObject('a');
  expect(Node!({ resource: 'Node', type: 'update', object: clean, old: dirty }, podOf(), world)).toBe(true);
  expect(Node!({ resource: 'Node', type: 'update', object: clean, old: clean }, podOf(), world)).toBe(false);
  expect(Node!({ resource: 'Node', type: 'add', object: dirty }, podOf(), world)).toBe(false);
});
