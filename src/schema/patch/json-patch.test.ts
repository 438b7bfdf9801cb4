import { describe, expect, it } from 'vitest';
import { countTurns } from '../../../test/support/divided-work.ts';
import { deepFreeze } from '../../base/json/tree.ts';
import { applyJsonPatch, jsonPatchInTurns } from './json-patch.ts';
import { PatchError } from './patch-error.ts';

const apply = (current: unknown, ...operations: unknown[]) =>
  applyJsonPatch(deepFreeze(current), deepFreeze(operations));

const failure = (current: unknown, patch: unknown): [string, string] => {
  try {
    applyJsonPatch(current, patch);
  } catch (error) {
    expect(error).toBeInstanceOf(PatchError);
    return [(error as PatchError).reason, (error as PatchError).message];
  }
  return ['', 'nothing'];
};

it.each<[string, object, object[], object]>([
  ['A.1 adds a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
  [
    'A.2 adds an element',
    { foo: ['bar', 'baz'] },
    [{ op: 'add', path: '/foo/1', value: 'qux' }],
    { foo: ['bar', 'qux', 'baz'] },
  ],
  ['A.3 removes a member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
  [
    'A.4 removes an element',
    { foo: ['bar', 'qux', 'baz'] },
    [{ op: 'remove', path: '/foo/1' }],
    { foo: ['bar', 'baz'] },
  ],
  [
    'A.5 replaces a value',
    { baz: 'qux', foo: 'bar' },
    [{ op: 'replace', path: '/baz', value: 'boo' }],
    { baz: 'boo', foo: 'bar' },
  ],
  [
    'A.6 moves a value',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  ],
  [
    'A.7 moves an element',
    { foo: ['all', 'grass', 'cows', 'eat'] },
    [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
    { foo: ['all', 'cows', 'eat', 'grass'] },
  ],
  [
    'A.8 tests and succeeds',
    { baz: 'qux', foo: ['a', 2, 'c'] },
    [
      { op: 'test', path: '/baz', value: 'qux' },
      { op: 'test', path: '/foo/1', value: 2 },
    ],
    { baz: 'qux', foo: ['a', 2, 'c'] },
  ],
  [
    'A.10 adds a nested member',
    { foo: 'bar' },
    [{ op: 'add', path: '/child', value: { grandchild: {} } }],
    { foo: 'bar', child: { grandchild: {} } },
  ],
  [
    'A.11 ignores unknown members',
    { foo: 'bar' },
    [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }],
    { foo: 'bar', baz: 'qux' },
  ],
  ['A.14 knows escapes', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
  [
    'A.16 adds a list at the end',
    { foo: ['bar'] },
    [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
    { foo: ['bar', ['abc', 'def']] },
  ],
])('the examples of RFC 6902: %s', (_, current, patch, result) => {
  expect(apply(current, ...patch)).toEqual(result);
});

describe('what Kubernetes does beyond it', () => {
  it('counts from the end of a list', () => {
    expect(apply({ a: [1, 2, 3] }, { op: 'remove', path: '/a/-1' })).toEqual({ a: [1, 2] });
    expect(apply({ a: [1, 2, 3] }, { op: 'add', path: '/a/-1', value: 4 })).toEqual({ a: [1, 2, 3, 4] });
  });

  it('replaces what is not there', () => {
    expect(apply({}, { op: 'replace', path: '/a', value: 1 })).toEqual({ a: 1 });
  });

  it('finds null where there is nothing', () => {
    expect(apply({}, { op: 'test', path: '/a', value: null })).toEqual({});
  });

  it('replaces the whole', () => {
    expect(apply({ a: 1 }, { op: 'replace', path: '', value: { b: 2 } }, { op: 'add', path: '/c', value: 3 })).toEqual({
      b: 2,
      c: 3,
    });
  });
});

it('a copy stands for itself', () => {
  const result = apply(
    { a: { x: 1 } },
    { op: 'add', path: '/a/w', value: 0 },
    { op: 'copy', from: '/a', path: '/b' },
    { op: 'replace', path: '/b/x', value: 2 },
    { op: 'add', path: '/a/y', value: 3 },
  );
  expect(result).toEqual({ a: { x: 1, w: 0, y: 3 }, b: { x: 2, w: 0 } });
});

it('a copy shares what the patch does not touch', () => {
  const current = { a: { x: 1 }, b: { deep: {} } };
  const result = applyJsonPatch(current, [{ op: 'add', path: '/a/y', value: 1 }]) as typeof current;
  expect(result.b).toBe(current.b);
  expect(current).toEqual({ a: { x: 1 }, b: { deep: {} } });
});

describe('a patch that does not apply', () => {
  const current = { metadata: { name: 'a' }, list: [1, 2], text: 'x' };

  it.each<[object, string]>([
    [{ op: 'test', path: '/metadata/name', value: 'b' }, 'testing value /metadata/name failed: test failed'],
    [{ op: 'test', path: '', value: {} }, 'testing value  failed: test failed'],
    [
      { op: 'test', path: '/no/way', value: 1 },
      'test operation does not apply: is missing path: /no/way: missing value',
    ],
    [
      { op: 'test', path: '/list/9', value: 1 },
      "error in test for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
    ],
    [
      { op: 'remove', path: '/nope' },
      "error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value",
    ],
    [
      { op: 'remove', path: '/list/x' },
      `error in remove for path: '/list/x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [
      { op: 'add', path: '/no/way', value: 1 },
      'add operation does not apply: doc is missing path: "/no/way": missing value',
    ],
    [
      { op: 'add', path: '/text/way', value: 1 },
      'add operation does not apply: doc is missing path: "/text/way": missing value',
    ],
    [{ op: 'add', path: '', value: 1 }, 'add operation does not apply: doc is missing path: "": missing value'],
    [
      { op: 'add', path: '/list/5', value: 1 },
      "error in add for path: '/list/5': Unable to access invalid index: 5: invalid index referenced",
    ],
    [
      { op: 'add', path: '/list/x', value: 1 },
      `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
    [
      { op: 'replace', path: '/list/7', value: 1 },
      'replace operation does not apply: doc is missing key: /list/7: missing value',
    ],
    [
      { op: 'replace', path: '/no/way', value: 1 },
      'replace operation does not apply: doc is missing path: /no/way: missing value',
    ],
    [
      { op: 'move', from: '/nope', path: '/x' },
      "error in move for path: 'nope': Unable to remove nonexistent key: nope: missing value",
    ],
    [
      { op: 'move', from: '/metadata', path: '/metadata/x' },
      'move operation does not apply: doc is missing destination path: /metadata/x: missing value',
    ],
    [
      { op: 'copy', from: '/no/way', path: '/x' },
      'copy operation does not apply: doc is missing from path: /no/way: missing value',
    ],
    [{ op: 'merge', path: '/x' }, 'Unexpected kind: merge'],
    [{ op: 'constructor', path: '/x' }, 'Unexpected kind: constructor'],
    [{}, 'Unexpected kind: unknown'],
  ])('%j: %s', (operation, message) => {
    expect(failure(deepFreeze(current), [operation])).toEqual(['Invalid', message]);
  });

  it.each<[unknown, string]>([
    [{}, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    [[1], 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    [
      [{ op: 1 }],
      'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    ],
    [
      [{ op: 'add', path: {} }],
      'error decoding patch: json: cannot unmarshal object into Go struct field jsonPatchOp.path of type string',
    ],
  ])('%j is no patch: %s', (patch, message) => {
    expect(failure(current, patch)).toEqual(['BadRequest', message]);
  });
});

const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });

describe('a hostile patch', () => {
  it('has too many operations', () => {
    const patch = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: null }));
    expect(failure({}, patch)).toEqual([
      'RequestEntityTooLarge',
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    ]);
  });

  it.each([
    ['inserts', { op: 'add', path: '/a/0', value: 1 }],
    ['removes', { op: 'remove', path: '/a/0' }],
    ['moves', { op: 'move', from: '/a/0', path: '/a/-' }],
    ['copies', { op: 'copy', from: '/a/0', path: '/a/0' }],
  ])('%s at the front of a long list too often', (_, operation) => {
    const list = new Array(200_000).fill(1);
    expect(failure({ a: list }, new Array(1_000).fill(operation))[0]).toBe('RequestEntityTooLarge');
  });

  it('inserts at the front of a list of the usual length as often as it likes', () => {
    const list = new Array(500).fill(1);
    const inserts = new Array(4_000).fill({ op: 'add', path: '/a/0', value: 1 });
    expect((applyJsonPatch({ a: list }, inserts) as { a: number[] }).a).toHaveLength(4_500);
  });

  it('tests an object with many keys too often', () => {
    const a = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 1]));
    const tests = new Array(100).fill({ op: 'test', path: '/a', value: a });
    expect(failure({ a: { ...a } }, tests)[0]).toBe('RequestEntityTooLarge');
  });

  it.each([
    ['a long path', { a: 1 }, [{ op: 'test', path: `/${'~0'.repeat(1_400_000)}`, value: 1 }]],
    [
      'deep paths too often',
      {},
      [
        { op: 'add', path: '/a', value: deep(400) },
        ...new Array(2_000).fill({ op: 'add', path: `/a${'/a'.repeat(400)}`, value: 1 }),
      ],
    ],
    [
      'copies of many keys',
      { a: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [i, 1])) },
      Array.from({ length: 6 }, (_, i) => ({ op: 'copy', from: '/a', path: `/b${i}` })),
    ],
  ])('has %s', (_, current, patch) => {
    expect(failure(current, patch)[0]).toBe('RequestEntityTooLarge');
  });

  it('doubles a value until there is no more room', () => {
    const patch = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/x${i}` }));
    const [reason, message] = failure({ a: { text: 'x'.repeat(100) } }, patch);
    expect(reason).toBe('Invalid');
    expect(message).toMatch(/^Unable to complete the copy, the accumulated size increase of copy is \d+, exceeding/);
  });

  it('nests a value by copies and by moves', () => {
    const copies = Array.from({ length: 12 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a${'/x'.repeat(2 ** i)}` }));
    expect(failure({ a: {} }, copies)[1]).toMatch(/exceeded max depth/);
    const current = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`k${i}`, {}]));
    const moves = Array.from({ length: 2999 }, (_, i) => ({ op: 'move', from: `/k${i}`, path: `/k${i + 1}/x` }));
    expect(failure(current, moves)[1]).toMatch(/exceeded max depth/);
  });

  it('cannot reach a prototype', () => {
    const add = (path: string) => ({ op: 'add', path, value: 1 });
    expect(failure({}, [add('/__proto__/polluted')])[0]).toBe('Invalid');
    expect(failure({}, [add('/constructor/prototype/polluted')])[0]).toBe('Invalid');
    const result = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: 1 } }]);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(({} as any).polluted).toBe(undefined);
  });
});

it('a long patch yields between its operations and while its result is checked, and comes to the same', () => {
  const keys = (count: number, name: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [name + i, i]));
  const copies = Array.from({ length: 1_600 }, (_, i) => ({ op: 'copy', from: '/a/k1', path: `/a/c${i}` }));
  const patch = [{ op: 'add', path: '/a', value: keys(20_000, 'k') }, ...copies];
  const { value, turns } = countTurns(jsonPatchInTurns({}, patch, { isSpent: () => true }));
  expect(value).toEqual(applyJsonPatch({}, patch));
  expect(turns).toBeGreaterThan(1_600 / 16 + 20);
});
