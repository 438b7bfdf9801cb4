import { expect, it } from 'vitest';
import { contentOf, diffLines, missingLines } from './object-diff.ts';

const object = (metadata: object, more: object) => ({ apiVersion: 'v1', kind: 'Thing', metadata, ...more }) as never;

it('names fields that changed, came and went', () => {
  const before = { spec: { replicas: 3, list: ['a', 'b'], 'odd.key': 1 } };
  const after = { spec: { replicas: 5, list: ['a'], more: {} } };
  expect(diffLines(before, after)).toEqual([
    '- spec.replicas: 3',
    '+ spec.replicas: 5',
    '- spec.list[1]: "b"',
    '- spec["odd.key"]: 1',
    '+ spec.more: {}',
  ]);
  expect(diffLines(before, before)).toEqual([]);
  expect(diffLines(undefined, { a: 1 })).toEqual(['+ a: 1']);
});

it('ignores what changes with every write', () => {
  const content = contentOf(
    object({ name: 'x', resourceVersion: '1', generation: 2, managedFields: [] }, { status: { n: 1 } }),
  );
  expect(content).toEqual({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x' }, status: { n: 1 } });
  const undone = { 'quarterdeck.io/undo': 'from 2 to 1' };
  expect(contentOf(object({ name: 'x', annotations: undone }, {}))).toEqual(contentOf(object({ name: 'x' }, {})));
});

it('tells what a write should have changed, and the server has otherwise', () => {
  const from = { spec: { replicas: 3, paused: true, image: 'a' } };
  const to = { spec: { replicas: 5, image: 'a' } };
  expect(missingLines({ from, to, is: { ...to, added: { by: 'the server' } } })).toEqual([]);
  expect(missingLines({ from, to, is: from })).toEqual([
    '  spec.replicas: 3, not 5',
    '  spec.paused: true, not absent',
  ]);
});
