import { expect, it } from 'vitest';
import { globalSection, listOf, required } from './ini.ts';

const KEYS = ['etcd-endpoints', 'zones'];

it('the section [Global] is read, without comments and quotation marks', () => {
  const text = [
    '; a comment',
    '[Global]',
    'Etcd-Endpoints = http://etcd:2379, http://other:2379   # two of them',
    'zones = "example.com.;#"\r',
    '',
  ].join('\n');
  const values = globalSection(text, KEYS);
  expect([...values]).toEqual([
    ['etcd-endpoints', 'http://etcd:2379, http://other:2379'],
    ['zones', 'example.com.;#'],
  ]);
  expect(listOf(values.get('etcd-endpoints'))).toEqual(['http://etcd:2379', 'http://other:2379']);
  expect(globalSection(undefined, KEYS).size).toBe(0);
});

it.each([
  ['zones = a.', 'line 1: the section [Global] is expected before the first key'],
  ['[Global]\nzone = a.', 'line 2: the key "zone" is unknown; known: etcd-endpoints, zones'],
  ['[Global]\n[Other]', 'line 2: the section [Other] is unknown'],
  ['[Global]\nzones', 'line 2: a key and a value are expected'],
  ['[Global]\nzones = "a.', 'line 2: the quotation mark of the value of "zones" is not closed'],
])('%j is refused with the line', (text, message) => {
  expect(() => globalSection(text, KEYS)).toThrow(message);
});

it('a key that must be given is named', () => {
  expect(() => required(globalSection('[Global]\nzones =', KEYS), 'zones')).toThrow(
    'the key "zones" of the section [Global] is required',
  );
});
