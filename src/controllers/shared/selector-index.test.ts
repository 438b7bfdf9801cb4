import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../test/support/planner-world.ts';
import { type TestObject, testKind } from '../../../test/support/scripted-api.ts';
import { fromLabelSelector, type LabelSelector } from '../../schema/selector/selector.ts';
import { selectorIndex } from './selector-index.ts';

const Owner = testKind<TestObject>('owners', 'Owner', 'Namespaced');

/** A find function that counts the selectors that it tries. */
function scene() {
  const world = new PlannerWorld();
  let tried = 0;
  const counted = (selector: LabelSelector): LabelSelector => ({
    ...selector,
    matches: (labels) => {
      tried++;
      return selector.matches(labels);
    },
  });
  const find = selectorIndex<any>(Owner as any, ({ spec }) =>
    spec.selector ? counted(fromLabelSelector(spec.selector)) : undefined,
  );
  const put = (name: string, selector: object | undefined, namespace = 'x') =>
    world.put(Owner, { metadata: { name, namespace }, spec: { selector } });
  const names = (labels: Record<string, string> | undefined) => {
    tried = 0;
    return find(labels, 'x', world).map(({ metadata }: any) => metadata.name);
  };
  return { put, names, tried: () => tried };
}

it('objects by what they select are those whose selectors match', () => {
  const { put, names } = scene();
  put('a', { matchLabels: { app: 'a' } });
  put('a and tier', { matchLabels: { app: 'a', tier: 'web' } });
  put('any app', { matchExpressions: [{ key: 'app', operator: 'Exists' }] });
  put('everything', {});
  put('nothing', undefined);
  put('invalid', { matchExpressions: [{ key: 'app', operator: 'What' }] });
  put('elsewhere', { matchLabels: { app: 'a' } }, 'y');
  expect(names({ app: 'a' }).sort()).toEqual(['a', 'any app', 'everything']);
  expect(names({ app: 'a', tier: 'web' }).sort()).toEqual(['a', 'a and tier', 'any app', 'everything']);
  expect(names(undefined)).toEqual(['everything']);
});

it('objects by what they select are found without trying all others', () => {
  const { put, names, tried } = scene();
  for (let at = 0; at < 1000; at++) put(`o${at}`, { matchLabels: { app: `a${at}` } });
  expect(names({ app: 'a7', tier: 'web' })).toEqual(['o7']);
  expect(tried()).toBe(1);
});
