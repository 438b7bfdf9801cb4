import { expect, it } from 'vitest';
import { parseClusterSelector } from './cluster-selector.ts';

const LABELS = { zone: 'a', load: '7' };
const select = (...requirements: object[]) => parseClusterSelector(JSON.stringify(requirements))(LABELS);

it.each([
  ['In', ['a', 'b'], true],
  ['in', ['b'], false],
  ['NotIn', ['b'], true],
  ['=', ['a'], true],
  ['==', ['b'], false],
  ['!=', ['a'], false],
  ['Exists', [], true],
  ['DoesNotExist', [], false],
  ['!', [], false],
])('a cluster selector: zone %s %j is %s', (operator, values, selected) => {
  expect(select({ key: 'zone', operator, values })).toBe(selected);
});

it('a cluster selector compares numbers', () => {
  expect([
    select({ key: 'load', operator: 'gt', values: ['6'] }),
    select({ key: 'load', operator: 'Lt', values: ['6'] }),
  ]).toEqual([true, false]);
});

it('a cluster selector needs all requirements, and without any every cluster is selected', () => {
  const zone = { key: 'zone', operator: 'Exists' };
  expect([select(zone, { key: 'load', operator: '!' }), select(zone), select()]).toEqual([false, true, true]);
  expect(parseClusterSelector(undefined)({})).toBe(true);
});

it.each([
  ['{', 'the cluster selector is not valid JSON'],
  ['{}', 'the cluster selector is not a list of requirements'],
  ['[{}]', 'a requirement of the cluster selector has no key'],
  ['[{"key":"a","operator":"like"}]', 'the operator "like" of the cluster selector is none of In'],
  ['[{"key":"a","operator":"In","values":"b"}]', 'the values for a in the cluster selector are not a list of strings'],
])('a cluster selector says what is wrong with %s', (text, message) => {
  expect(() => parseClusterSelector(text)).toThrow(message);
});
