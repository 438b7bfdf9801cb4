import { expect, it } from 'vitest';
import { templateOf } from './interned-sets.ts';
import { learnLists, listOf, packedLists, packedOf, unpack } from './manager-list.ts';

const manager = { manager: 'kubelet', operation: 'Update', apiVersion: 'v1', subresource: 'status' };

it('knows what it has packed', () => {
  const list = listOf([{ ...manager, template: templateOf('{"f:phase":{}}') }]);
  const packed = packedOf(list);
  expect(packedLists()).toContainEqual({
    packed,
    rows: '["kubelet","Update","v1","status",{"f:phase":{}}]\n',
  });
});

it('takes what it has learnt, in both directions', () => {
  // Texts that no compression gives.
  learnLists([
    { packed: 'first', rows: '["a","Update","v1","",{"f:data":{}}]\n' },
    { packed: 'second', rows: '["b","Apply","v1","",{"f:data":{}}]\n["c","Update","v1","",{}]\n' },
  ]);
  const template = templateOf('{"f:data":{}}');
  expect(packedOf(listOf([{ ...manager, manager: 'a', subresource: '', template }]))).toBe('first');
  expect(unpack('second').managers.map(({ manager, operation }) => `${manager} ${operation}`)).toEqual([
    'b Apply',
    'c Update',
  ]);
});
