import { expect, it } from 'vitest';
import type { AnyObject } from '../../api/object-types.ts';
import { parseOverrides } from './overrides.ts';

const OBJECT = { metadata: { name: 'a', labels: { app: 'web' } }, data: { size: '1' } } as unknown as AnyObject;
const overrides = (value: object) => parseOverrides(JSON.stringify(value));
const replaced = (path: string, value: unknown) => [{ op: 'replace', path, value }];

it('overrides apply to their cluster: those for every cluster first, and the original stays', () => {
  const parsed = overrides({ east: replaced('/data/size', '3'), '*': replaced('/data/size', '2') });
  const sizes = ['east', 'west'].map((cluster) => parsed.apply(OBJECT, cluster).data.size);
  expect([sizes, OBJECT.data.size]).toEqual([['3', '2'], '1']);
  expect([parsed.countFor('east'), parsed.countFor('west')]).toEqual([2, 1]);
  expect(parseOverrides(undefined).apply(OBJECT, 'east')).toBe(OBJECT);
});

it('overrides may change labels and annotations', () => {
  expect(overrides({ east: replaced('/metadata/labels/app', 'x') }).apply(OBJECT, 'east').metadata.labels).toEqual({
    app: 'x',
  });
});

it('overrides say why they cannot be applied', () => {
  const parsed = overrides({ east: [{ op: 'remove', path: '/data/none' }] });
  expect(() => parsed.apply(OBJECT, 'east')).toThrow(/^the overrides for east cannot be applied: .*\/data\/none/);
  expect(parsed.apply(OBJECT, 'west')).toBe(OBJECT);
});

it.each([
  ['{', 'the overrides are not valid JSON'],
  ['[]', 'the overrides are not an object with a JSON patch for each cluster'],
  ['{"east":{}}', 'the overrides for east are not a list of operations'],
  ['{"east":["x"]}', 'operation 1 of the overrides for east is not an object'],
  [
    '{"east":[{"op":"set","path":"/a"}]}',
    'operation 1 of the overrides for east has the op "set", which is none of add',
  ],
  [
    '{"east":[{"op":"add","path":"a"}]}',
    'the path of operation 1 of the overrides for east does not begin with a slash',
  ],
  ['{"east":[{"op":"remove","path":"/metadata/name"}]}', 'is /metadata/name, which cannot differ between clusters'],
  ['{"east":[{"op":"remove","path":"/kind"}]}', 'is /kind, which cannot differ between clusters'],
  ['{"east":[{"op":"add","path":"/","value":1}]}', 'is /, which cannot differ between clusters'],
  ['{"east":[{"op":"move","from":"/metadata","path":"/data/x"}]}', 'the from of operation 1'],
])('overrides: %s: says what is wrong', (text, message) => {
  expect(() => parseOverrides(text)).toThrow(message);
});
