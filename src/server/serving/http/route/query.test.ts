import { expect, it } from 'vitest';
import { parseQuery } from './query.ts';

it('parses every parameter by its type', () => {
  const search =
    'labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dx&limit=5&continue=abc&resourceVersion=7' +
    '&resourceVersionMatch=Exact&timeoutSeconds=30&allowWatchBookmarks=true&sendInitialEvents=1' +
    '&includeUninitialized&export=true&exact=false&dryRun=All&fieldManager=me&gracePeriodSeconds=0' +
    '&orphanDependents=False&propagationPolicy=Orphan&watch=1&pretty=true&unknown=x';
  expect(parseQuery(search)).toEqual({
    options: {
      labelSelector: 'a=b,c',
      fieldSelector: 'metadata.name=x',
      limit: 5,
      continue: 'abc',
      resourceVersion: '7',
      resourceVersionMatch: 'Exact',
      timeoutSeconds: 30,
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      includeUninitialized: true,
      export: true,
      exact: false,
      dryRun: ['All'],
      fieldManager: 'me',
      gracePeriodSeconds: 0,
      orphanDependents: false,
      propagationPolicy: 'Orphan',
    },
    watch: true,
    pretty: true,
  });
});

it('uses the first of several values, and all dryRun values', () => {
  expect(parseQuery('limit=1&limit=2&watch=false&watch=true&dryRun=All&dryRun=All')).toEqual({
    options: { limit: 1, dryRun: ['All', 'All'] },
    watch: false,
    pretty: undefined,
  });
});

it.each([
  ['watch', true],
  ['watch=', true],
  ['watch=yes', true],
  ['watch=0', false],
  ['watch=FALSE', false],
  ['', false],
])('understands %s as %s', (search, watch) => {
  expect(parseQuery(search).watch).toBe(watch);
});

it.each([
  ['pretty=1', true],
  ['pretty=true', true],
  ['pretty=false', false],
  ['pretty=nonsense', false],
  ['pretty=', undefined],
  ['pretty', undefined],
])('understands %s as %s', (search, pretty) => {
  expect(parseQuery(search).pretty).toBe(pretty);
});

it.each([
  ['limit=abc', 'strconv.ParseInt: parsing "abc": invalid syntax'],
  ['limit=', 'strconv.ParseInt: parsing "": invalid syntax'],
  ['timeoutSeconds=1.5', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
  ['gracePeriodSeconds=9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
  ['limit=%zz', 'invalid URL escape in "%zz"'],
  ['%=1', 'invalid URL escape in "%"'],
])('rejects %s', (search, message) => {
  expect(() => parseQuery(search)).toThrow(message);
});

it('accepts the largest numbers and signs', () => {
  expect(parseQuery('gracePeriodSeconds=9223372036854775807').options.gracePeriodSeconds).toBeGreaterThan(9e18);
  expect(parseQuery('limit=%2B5&gracePeriodSeconds=-1').options).toEqual({ limit: 5, gracePeriodSeconds: -1 });
});

it('ignores names of Object.prototype', () => {
  expect(parseQuery('__proto__=x&constructor=y&toString=z&hasOwnProperty=1')).toEqual({
    options: {},
    watch: false,
    pretty: undefined,
  });
});

it('decodes plus signs as spaces', () => {
  expect(parseQuery('labelSelector=a+in+(b%2Bc)').options.labelSelector).toBe('a in (b+c)');
});
