import { describe, expect, it } from 'vitest';
import { s } from '../builders.ts';
import { DecodeError, decode, decodeUnlimited, LimitError } from './decode.ts';
import { MAX_LIST_ITEMS, MAX_MAP_ENTRIES } from './limits.ts';

const Item = s.object('Item', { name: s.string({ default: 'x' }), args: s.list(s.string(), { maxItems: 3 }) });
const Thing = s.object('Thing', {
  spec: s.object('ThingSpec', {
    items: s.list(Item, { maxItems: 5 }),
    names: s.list(s.string()),
    data: s.map(s.string(), { maxItems: 2 }),
    labels: s.map(s.string()),
    by: s.map(s.list(s.string(), { maxItems: 1 })),
  }),
});

const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`);
const entries = (count: number) => Object.fromEntries(words(count).map((word) => [word, 'v']));

function rejection(spec: object, replaced?: object): string[] {
  try {
    decode(Thing, { spec }, { replaced: () => replaced && { spec: replaced } });
    return [];
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    return error.errors.map(({ field, message }) => `${field}: ${message}`);
  }
}

describe('a list or map', () => {
  it.each<[string, object]>([
    ['of its own maximum', { items: Array(5).fill({}), data: entries(2) }],
    ['of the default maximum', { names: words(MAX_LIST_ITEMS), labels: entries(MAX_MAP_ENTRIES) }],
  ])('%s is decoded', (_, spec) => {
    expect(rejection(spec)).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a list', { items: Array(6).fill({}) }, 'spec.items: Too many: 6: must have at most 5 items'],
    ['a map', { data: entries(3) }, 'spec.data: Too many: 3: must have at most 2 items'],
    [
      'a list without a maximum of its own',
      { names: words(MAX_LIST_ITEMS + 1) },
      'spec.names: Too many: 10001: must have at most 10000 items',
    ],
    [
      'a map without a maximum of its own',
      { labels: entries(MAX_MAP_ENTRIES + 2) },
      'spec.labels: Too many: 10002: must have at most 10000 items',
    ],
    [
      'a list in an item',
      { items: [{}, { args: words(4) }] },
      'spec.items[1].args: Too many: 4: must have at most 3 items',
    ],
    ['a list in a map', { by: { k: words(2) } }, 'spec.by[k]: Too many: 2: must have at most 1 items'],
  ])('that is longer is rejected: %s', (_, spec, message) => {
    expect(rejection(spec)).toEqual([message]);
  });

  it('is rejected with all others that are too long', () => {
    const spec = { items: [{ args: words(9) }, { args: words(3) }, { args: words(4) }], data: entries(9) };
    expect(rejection(spec).map((each) => each.split(':')[0])).toEqual([
      'spec.items[0].args',
      'spec.items[2].args',
      'spec.data',
    ]);
  });

  it('is rejected as what cannot be decoded', () => {
    expect(() => decode(Thing, { spec: { data: entries(3) } })).toThrow(DecodeError);
  });

  it('is rejected before its items are decoded', () => {
    expect(rejection({ items: Array(6).fill('not an object') })).toHaveLength(1);
  });
});

describe('an object that is already beyond a maximum', () => {
  it('can be read', () => {
    const spec = { data: entries(3), items: Array(6).fill({ args: words(4) }) };
    expect(decodeUnlimited(Thing, { spec })).toMatchObject({ spec: { data: entries(3) } });
    expect(rejection(spec)).not.toEqual([]);
  });

  it('can be replaced by one that is not longer', () => {
    expect(rejection({ data: entries(4) }, { data: entries(4) })).toEqual([]);
    expect(rejection({ data: entries(3) }, { data: entries(4) })).toEqual([]);
    expect(rejection({ items: [{}, { args: words(4) }] }, { items: [{ args: words(4) }] })).toEqual([]);
  });

  it('cannot be replaced by one that is longer, in this list or in another', () => {
    expect(rejection({ data: entries(5) }, { data: entries(4) })).toHaveLength(1);
    expect(rejection({ items: Array(6).fill({}) }, { data: entries(6) })).toHaveLength(1);
  });
});
