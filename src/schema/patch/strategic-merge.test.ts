import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../base/json/tree.ts';
import { s } from '../builders.ts';
import { PatchError } from './patch-error.ts';
import { applyStrategicMergePatch } from './strategic-merge.ts';

const Item = s.object('Item', {
  name: s.string(),
  value: s.string(),
  other: s.string(),
  args: s.list(s.string()),
  ports: s.listMap(s.object('Port', { port: s.int32(), name: s.string() }), { keys: ['port'] }),
});
const Root = s.object('Root', {
  name: s.string(),
  count: s.int32(),
  items: s.listMap(Item, { keys: ['name'] }),
  atomic: s.list(Item),
  words: s.set(s.string(), { merge: true }),
  plain: s.list(s.string()),
  labels: s.map(s.string()),
  byName: s.map(Item),
  source: s.object('Source', { a: s.string(), b: s.string(), c: s.string() }, { retainKeys: true }),
  whole: s.object('Whole', { a: s.string(), b: s.string() }, { replace: true }),
  again: s.lazy(() => Root),
  free: s.any(),
}) as any;

const apply = (current: unknown, patch: unknown) =>
  applyStrategicMergePatch(Root, deepFreeze(current), deepFreeze(patch));
const named = (...names: string[]) => names.map((name) => ({ name }));

it.each<[string, object, object, object]>([
  ['scalars are replaced', { name: 'a', count: 1 }, { name: 'b' }, { name: 'b', count: 1 }],
  ['an object can be replaced as a whole', { whole: { a: '1' } }, { whole: { b: '2' } }, { whole: { b: '2' } }],
  ['null takes away', { name: 'a', labels: { x: '1' } }, { name: null, labels: { x: null, y: null } }, { labels: {} }],
  [
    'maps merge',
    { labels: { a: '1', b: '2' } },
    { labels: { b: '3', c: '4' } },
    { labels: { a: '1', b: '3', c: '4' } },
  ],
  ['what is new comes without nulls', {}, { labels: { a: null, b: '1' }, source: null }, { labels: { b: '1' } }],
  ['another type replaces', { free: [1] }, { free: { a: 1 } }, { free: { a: 1 } }],
  [
    'free-form objects merge and their lists do not',
    { free: { a: { x: 1 }, l: [1] } },
    { free: { a: { y: 2 }, l: [2] } },
    { free: { a: { x: 1, y: 2 }, l: [2] } },
  ],
  [
    'shapes inside maps and inside themselves are known',
    { again: { byName: { x: { ports: [{ port: 1 }] } } } },
    { again: { byName: { x: { ports: [{ port: 1, name: 'a' }] } } } },
    { again: { byName: { x: { ports: [{ port: 1, name: 'a' }] } } } },
  ],
])('fields: %s', (_, current, patch, result) => {
  expect(apply(current, patch)).toEqual(result);
});

describe('lists of objects with a merge key', () => {
  it.each<[string, object[], object[], object[]]>([
    [
      'merge an item with its like',
      [{ name: 'a', value: '1', other: 'x' }],
      [{ name: 'a', value: '2' }],
      [{ name: 'a', value: '2', other: 'x' }],
    ],
    ['put what is new first', named('a', 'b'), named('c'), named('c', 'a', 'b')],
    ['put what is new where the patch has it', named('a', 'b', 'c'), named('a', 'x', 'c'), named('a', 'x', 'b', 'c')],
    ['take the order of the patch', named('a', 'b', 'c'), named('c', 'a'), named('b', 'c', 'a')],
    ['lose what is deleted', named('a', 'b'), [{ name: 'a', $patch: 'delete' }], named('b')],
    ['do not mind deleting what is not there', named('a'), [{ name: 'x', $patch: 'delete' }], named('a')],
    ['delete and add at once', named('a', 'b'), [{ name: 'a', $patch: 'delete' }, { name: 'c' }], named('c', 'b')],
    ['are replaced on demand', named('a', 'b'), [{ $patch: 'replace' }, { name: 'c' }], named('c')],
    ['are emptied on demand', named('a', 'b'), [{ $patch: 'replace' }], []],
    [
      'merge lists inside their items',
      [{ name: 'a', ports: [{ port: 1 }, { port: 2 }] }],
      [{ name: 'a', ports: [{ port: 2, name: 'x' }] }],
      [{ name: 'a', ports: [{ port: 1 }, { port: 2, name: 'x' }] }],
    ],
    [
      'replace lists without a key inside their items',
      [{ name: 'a', args: ['x', 'y'] }],
      [{ name: 'a', args: ['z'] }],
      [{ name: 'a', args: ['z'] }],
    ],
    ['take fields away from an item', [{ name: 'a', value: '1' }], [{ name: 'a', value: null }], [{ name: 'a' }]],
    [
      'merge into the first of two alike',
      [
        { name: 'a', value: '1' },
        { name: 'a', value: '2' },
      ],
      [{ name: 'a', value: '3' }],
      [
        { name: 'a', value: '3' },
        { name: 'a', value: '2' },
      ],
    ],
  ])('%s', (_, current, patch, result) => {
    expect(apply({ items: current }, { items: patch })).toEqual({ items: result });
  });

  it('come without directives where there was no list', () => {
    expect(
      apply(
        {},
        {
          items: [
            { $patch: 'delete', name: 'a' },
            { name: 'b', value: null },
          ],
        },
      ),
    ).toEqual({ items: [{ name: 'b' }] });
  });

  it('leave lists without a key to be replaced', () => {
    expect(apply({ atomic: named('a', 'b') }, { atomic: named('c') })).toEqual({ atomic: named('c') });
  });
});

describe('lists of scalars', () => {
  it('merge when they are sets, without what is there twice', () => {
    expect(apply({ words: ['a', 'b'] }, { words: ['c', 'a', 'c'] })).toEqual({ words: ['c', 'a', 'b'] });
  });

  it('are replaced when they are not', () => {
    expect(apply({ plain: ['a', 'b'] }, { plain: ['c'] })).toEqual({ plain: ['c'] });
  });

  it('lose what $deleteFromPrimitiveList names', () => {
    expect(apply({ words: ['a', 'b', 'c'] }, { '$deleteFromPrimitiveList/words': ['b', 'x'] })).toEqual({
      words: ['a', 'c'],
    });
    expect(apply({}, { '$deleteFromPrimitiveList/words': ['b'] })).toEqual({});
  });
});

it.each<[string, object, object, object]>([
  [
    'orders without changing',
    { items: named('a', 'b', 'c') },
    { '$setElementOrder/items': named('c', 'a', 'b') },
    { items: named('c', 'a', 'b') },
  ],
  [
    'orders what the patch adds',
    { items: named('a', 'b') },
    { '$setElementOrder/items': named('b', 'x', 'a'), items: named('x') },
    { items: named('b', 'x', 'a') },
  ],
  [
    'leaves what only the server has near where it was',
    { items: named('a', 's', 'b') },
    { '$setElementOrder/items': named('b', 'a') },
    { items: named('s', 'b', 'a') },
  ],
  [
    'orders a list that is new',
    {},
    { '$setElementOrder/items': named('b', 'a'), items: named('b', 'a') },
    { items: named('b', 'a') },
  ],
  [
    'works on scalars',
    { words: ['a', 'b', 'c'] },
    { '$setElementOrder/words': ['c', 'd', 'a'], words: ['d'] },
    { words: ['b', 'c', 'd', 'a'] },
  ],
  [
    'works with deletions',
    { items: named('a', 'b', 'c') },
    { '$setElementOrder/items': named('c', 'a'), items: [{ name: 'b', $patch: 'delete' }] },
    { items: named('c', 'a') },
  ],
  [
    'puts what comes in place of another behind what only the server has',
    { items: named('a', 's') },
    { '$setElementOrder/items': named('b'), items: [{ name: 'b' }, { name: 'a', $patch: 'delete' }] },
    { items: named('s', 'b') },
  ],
  ['does nothing without a list', { name: 'x' }, { '$setElementOrder/items': named('a') }, { name: 'x' }],
])('$setElementOrder: %s', (_, current, patch, result) => {
  expect(apply(current, patch)).toEqual(result);
});

it('$setElementOrder must agree with the list of the patch', () => {
  expect(() =>
    apply({ items: named('a', 'b') }, { '$setElementOrder/items': named('a', 'b'), items: named('b', 'a') }),
  ).toThrow(
    /^The order in patch list:\n\[map\[name:b\] map\[name:a\]\]\n doesn't match \$setElementOrder list:\n\[map\[name:a\] map\[name:b\]\]\n$/,
  );
});

it('other directives: $retainKeys drops the keys it does not name', () => {
  expect(apply({ source: { a: '1', b: '2' } }, { source: { $retainKeys: ['c'], c: '3' } })).toEqual({
    source: { c: '3' },
  });
  expect(apply({ source: { a: '1', b: '2' } }, { source: { $retainKeys: ['a', 'c'], c: '3', b: null } })).toEqual({
    source: { a: '1', c: '3' },
  });
});

it('other directives: $patch replaces or empties an object', () => {
  expect(apply({ labels: { a: '1' } }, { labels: { $patch: 'replace', b: '2' } })).toEqual({ labels: { b: '2' } });
  expect(apply({ source: { a: '1' } }, { source: { $patch: 'delete' } })).toEqual({ source: {} });
});

describe('a patch that makes no sense', () => {
  const current = { items: named('a'), words: ['a'], source: { a: '1' }, name: 'x', free: [[1]] };

  it.each<[unknown, string]>([
    [[], 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [{ items: [{ value: 'x' }] }, 'map: map[value:x] does not contain declared merge key: name'],
    [{ items: [{ $patch: 'delete' }] }, 'map: map[$patch:delete] does not contain declared merge key: name'],
    [{ items: [{ name: 'a', $patch: 'merge' }] }, 'merging lists cannot yet be specified in the patch'],
    [{ items: [{ name: 'a', $patch: 'x' }] }, 'unknown patch type: x in map: map[$patch:x name:a]'],
    [{ items: ['a'] }, 'list element types are not identical: [[map[name:a]] [a]]'],
    [{ items: [null] }, 'list element types are not identical: [[map[name:a]] [<nil>]]'],
    [{ words: [1] }, 'list element types are not identical: [[a] [1]]'],
    [{ source: { $patch: 'merge' } }, 'unknown patch type: merge in map: map[$patch:merge]'],
    [{ source: { $retainKeys: 'a' } }, 'invalid patch format of retainKeys'],
    [{ source: { $retainKeys: ['a'], b: '1' } }, 'invalid patch format of retainKeys'],
    [{ '$setElementOrder/items': 'x' }, 'expected a []interface {}, but received a string'],
    [{ $setElementOrder: [] }, 'invalid patch format of setElementOrder list'],
    [{ '$setElementOrder/items': [{ value: 'x' }] }, 'map: map[value:x] does not contain declared merge key: name'],
    [{ $deleteFromPrimitiveList: [] }, 'invalid patch format of primitive list'],
  ])('%j: %s', (patch, message) => {
    expect(() => apply(current, patch)).toThrow(new PatchError('BadRequest', message));
  });

  it('does not fit when it has lists of lists', () => {
    expect(() => apply({ words: [['a']] }, { words: [['b']] })).toThrow(
      new PatchError('Invalid', 'lists of lists are not supported'),
    );
  });

  it('is rejected when it is too deep', () => {
    const deep = JSON.parse(`${'{"again":'.repeat(20_000)}{}${'}'.repeat(20_000)}`);
    expect(() => apply({ again: {} }, JSON.parse(JSON.stringify({ free: 1 })))).not.toThrow();
    expect(() => applyStrategicMergePatch(Root, { again: {} }, deep)).toThrow(PatchError);
    expect(() => applyStrategicMergePatch(Root, {}, deep)).toThrow(PatchError);
  });

  it('is quick to merge even when it is large', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ name: `n${i}` }));
    const result = applyStrategicMergePatch(Root, { items: many }, { items: [...many].reverse() }) as {
      items: object[];
    };
    expect(result.items).toHaveLength(20_000);
  });

  it('is rejected when it merges one item again and again', () => {
    const keys = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, 1]));
    const items = [{ name: 'a', ...keys }, ...Array.from({ length: 2_000 }, () => ({ name: 'a' }))];
    const ports = Array.from({ length: 2_000 }, (_, i) => ({ port: i, protocol: 'TCP' }));
    const lists = [{ name: 'a', ports }, ...Array.from({ length: 2_000 }, () => ({ name: 'a', ports: [{ port: 1 }] }))];
    const ordered = Array.from({ length: 100 }, () => ({ name: 'a', '$setElementOrder/ports': [{ port: 1 }] }));
    for (const patch of [{ items }, { items: lists }, { items: ordered }]) {
      expect(() => applyStrategicMergePatch(Root, { items: [{ name: 'a', ports }] }, patch)).toThrow(
        'The patch merges too many items with the same merge key',
      );
    }
  });

  it('cannot reach a prototype', () => {
    const patch = JSON.parse(
      '{"__proto__":{"polluted":1},"labels":{"__proto__":{"polluted":1}},"constructor":{"x":1}}',
    );
    const result = applyStrategicMergePatch(Root, { labels: {} }, patch) as any;
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(result.labels)).toBe(Object.prototype);
    expect(({} as any).polluted).toBe(undefined);
  });
});

it('shares what the patch does not touch', () => {
  const current = { items: [{ name: 'a', ports: [] }, { name: 'b' }], labels: {} };
  const result = applyStrategicMergePatch(Root, current, { items: [{ name: 'b', value: '1' }] }) as typeof current;
  expect(result.labels).toBe(current.labels);
  expect(result.items[0]).toBe(current.items[0]);
});
