import { describe, expect, it } from 'vitest';
import {
  fromLabelSelector,
  fromLabels,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
  selectorText,
} from './selector.ts';

describe('a label selector', () => {
  const labels = { app: 'web', tier: 'front', size: '10', empty: '' };

  it.each([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    [' app = web , tier != back ', true],
    ['app=db', false],
    ['other=x', false],
    ['other!=x', true],
    ['app!=web', false],
    ['app', true],
    ['!app', false],
    ['!other', true],
    ['app in (db, web)', true],
    ['app notin (db, web)', false],
    ['other notin (a)', true],
    ['other in (a)', false],
    ['size>9', true],
    ['size<10', false],
    ['app>1', false],
    ['other<1', false],
    ['empty=', true],
    ['empty in ()', true],
    ['in in (in)', false],
    ['toString', false],
    ['!constructor', true],
    ['toString!=x,__proto__1!=x', true],
  ])('%j of web: %s', (text, selected) => {
    if (text.includes('__')) return expect(() => parseLabelSelector(text)).toThrow(SelectorError);
    return expect(parseLabelSelector(text).matches(labels)).toBe(selected);
  });

  it('takes an object without labels for one with none', () => {
    expect(parseLabelSelector('a=b').matches(undefined)).toBe(false);
    expect(parseLabelSelector('a!=b').matches(undefined)).toBe(true);
    expect(parseLabelSelector('a!=b,!c').matches(undefined)).toBe(true);
    expect(parseLabelSelector('')).toMatchObject({ empty: true, text: '' });
  });

  it('has a canonical text', () => {
    expect(parseLabelSelector('z,  b notin (y,x) ,!c,a==1').text).toBe('a==1,b notin (x,y),!c,z');
  });

  it('is the same value for the same text', () => {
    expect(parseLabelSelector('a=b')).toBe(parseLabelSelector('a=b'));
  });

  it.each([
    ['app===x!', "unable to parse requirement: found '=', expected: identifier"],
    ['=', "found '=', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b,=', "unable to parse requirement: found '=', expected: ',', or identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    [
      'a>x',
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ])('%j is none: %s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(new SelectorError(message));
  });

  it('names the key and the value that cannot be', () => {
    expect(() => parseLabelSelector('-x=1')).toThrow(
      /^unable to parse requirement: <nil>: Invalid value: "-x": name part must consist/,
    );
    expect(() => parseLabelSelector('a=-')).toThrow(
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-": a valid label must be/,
    );
  });
});

describe('a selector as objects carry it', () => {
  it('selects by labels and expressions together', () => {
    const selector = fromLabelSelector({
      matchLabels: { b: '1' },
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['y', 'x'] },
        { key: 'c', operator: 'DoesNotExist' },
        { key: 'd', operator: 'Exists' },
        { key: 'e', operator: 'NotIn', values: ['z'] },
      ],
    });
    expect(selector.text).toBe('a in (x,y),b=1,!c,d,e notin (z)');
    expect(selector.matches({ a: 'x', b: '1', d: '' })).toBe(true);
    expect(selector.matches({ a: 'x', b: '1', d: '', e: 'z' })).toBe(false);
  });

  it('selects everything when it is empty and nothing when it is absent', () => {
    expect(fromLabelSelector({}).matches(undefined)).toBe(true);
    expect(fromLabelSelector(undefined).matches({})).toBe(false);
  });

  it('is rejected with an unknown operator or without values', () => {
    expect(() => fromLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Like' }] })).toThrow(
      '"Like" is not a valid label selector operator',
    );
    expect(() => fromLabelSelector({ matchExpressions: [{ key: 'a', operator: 'In' }] })).toThrow(
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    );
  });

  it('has a text in either form', () => {
    expect(selectorText({ matchLabels: { b: '1', a: '2' } })).toBe('a=2,b=1');
    expect(selectorText({ b: '1', a: '2' })).toBe('a=2,b=1');
    expect(selectorText({})).toBe('');
    expect(selectorText(undefined)).toBe('');
    expect(fromLabels({ a: '1' }).matches({ a: '1', b: '2' })).toBe(true);
  });
});

describe('a hostile selector', () => {
  it.each(['a=b,', 'a in (b),', '!a,', '(((((', 'a in (b,', 'a==', '\\\\', '\\,'])(
    'of millions of characters is rejected: %s',
    (part) => {
      const text = part.repeat(2_900_000 / part.length);
      const message = `the selector has ${text.length} characters, which is more than 65536`;
      expect(() => parseLabelSelector(text)).toThrow(new SelectorError(message));
      expect(() => parseFieldSelector(text)).toThrow(new SelectorError(message));
    },
  );

  it('has a limited number of requirements, with any number of values', () => {
    const all = (count: number, each: (i: number) => string) => Array.from({ length: count }, (_, i) => each(i)).join();
    const values = all(5_000, (i) => `v${i}`);
    expect(parseLabelSelector(`a in (${values}),${all(249, (i) => `!k${i}`)}`).matches({ a: 'v4999' })).toBe(true);
    expect(parseFieldSelector(all(250, (i) => `metadata.name!=${i}`))).toHaveLength(250);
    const tooMany = new SelectorError('the selector has 251 requirements, which is more than 250');
    expect(() => parseLabelSelector(all(251, (i) => `!k${i}`))).toThrow(tooMany);
    expect(() => parseFieldSelector(all(251, (i) => `metadata.name!=${i}`))).toThrow(tooMany);
  });

  it('names only the first of many errors', () => {
    const values = Array.from({ length: 5_000 }, (_, i) => `&${i}`);
    try {
      parseLabelSelector(`a in (${values.join(',')})`);
      expect.unreachable();
    } catch (error) {
      expect((error as Error).message).toContain('values[0][a]: Invalid value: "&0"');
      expect((error as Error).message.length).toBeLessThan(100_000);
    }
  });
});

it('a label is found among many values', () => {
  const values = Array.from({ length: 1_000 }, (_, i) => `v${i}`);
  const isIn = parseLabelSelector(`a in (${values.join(',')})`);
  const notIn = parseLabelSelector(`a notin (${values.join(',')})`);
  for (const [labels, found] of [
    [{ a: 'v999' }, true],
    [{ a: 'v1000' }, false],
    [{ b: 'v1' }, false],
  ] as const) {
    expect([isIn.matches(labels), notIn.matches(labels)]).toEqual([found, !found]);
  }
});

it('a field selector is a list of requirements, sorted, with escapes resolved', () => {
  expect(parseFieldSelector('status.phase!=Running,metadata.name==a\\,b\\=c\\\\,spec.x=')).toEqual([
    { field: 'metadata.name', op: '=', value: 'a,b=c\\' },
    { field: 'spec.x', op: '=', value: '' },
    { field: 'status.phase', op: '!=', value: 'Running' },
  ]);
  expect(parseFieldSelector(',')).toEqual([]);
});

it.each([
  ['a', "invalid selector: 'a'; can't understand 'a'"],
  ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ['a=\\b', 'invalid field selector: invalid escape sequence: \\b'],
  ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
])('a field selector: %j is none: %s', (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(new SelectorError(message));
});
