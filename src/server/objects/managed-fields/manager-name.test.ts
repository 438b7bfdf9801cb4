import { expect, it } from 'vitest';
import { managerOf } from './manager-name.ts';

it.each([
  ['system:apiserver', 'kube-apiserver'],
  ['system:kube-scheduler', 'kube-scheduler'],
  ['alice', 'unknown'],
  // A property name that every object has.
  ['constructor', 'unknown'],
  ['toString', 'unknown'],
])('without a User-Agent, %s writes as %s', (name, manager) => {
  expect(managerOf({ user: { name, groups: [] } })).toBe(manager);
});
