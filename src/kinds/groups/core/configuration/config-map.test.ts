import { describe, expect, it } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { ConfigMap } from './config-map.ts';

const configMap = (parts: object) => ({ metadata: { name: 'c', namespace: 'n' }, ...parts });

const BAD_KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

it.each([
  ['texts and bytes', { data: { a: '1' }, binaryData: { 'b.bin': 'AAE=' } }, []],
  ['nothing at all', {}, []],
  ['a key that is no file name', { data: { 'a b': '1' } }, [`data[a b]: Invalid value: "a b": ${BAD_KEY}`]],
  ['a key that leads upwards', { data: { '..': '1' } }, ['data[..]: Invalid value: "..": must not be \'..\'']],
  ['the same in bytes', { binaryData: { 'a b': '' } }, [`binaryData[a b]: Invalid value: "a b": ${BAD_KEY}`]],
  [
    'a key in both',
    { data: { a: '1' }, binaryData: { a: 'AAE=' } },
    ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
  ],
  ['a mebibyte', { data: { a: 'é'.repeat(512 * 1024) } }, []],
  [
    'more than a mebibyte in all',
    { data: { a: 'x'.repeat(1024 * 1024 - 1) }, binaryData: { b: 'AAE=' } },
    ['Too long: may not be more than 1048576 bytes'],
  ],
])('a ConfigMap with %s is judged', (_what, parts, errors) => {
  expect(create(ConfigMap, configMap(parts)).errors).toEqual(errors);
});

describe('a ConfigMap that is immutable', () => {
  const { object: old } = create(ConfigMap, configMap({ data: { a: '1' }, immutable: true }));
  const guarded = 'Forbidden: field is immutable when `immutable` is set';

  it.each([
    ['stays', { data: { a: '1' }, immutable: true }, []],
    ['may get labels', { metadata: { name: 'c', labels: { x: 'y' } }, data: { a: '1' }, immutable: true }, []],
    ['cannot be unlocked', { data: { a: '1' } }, [`immutable: ${guarded}`]],
    ['keeps its data', { data: { a: '2' }, immutable: true }, [`data: ${guarded}`]],
    ['takes no bytes', { data: { a: '1' }, binaryData: { b: '' }, immutable: true }, [`binaryData: ${guarded}`]],
  ])('%s', (_what, parts, errors) => {
    expect(update(ConfigMap, old, configMap(parts)).errors).toEqual(errors);
  });
});
