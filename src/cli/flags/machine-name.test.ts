import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { machineName } from './machine-name.ts';
import { nodeName } from './values.ts';

test.each([
  ['web-1.lab.example', 'web-1.lab.example'],
  ['Build_Host', 'build-host'],
  ['-a-..b_', 'a.b'],
  ['___', 'machine'],
  ['', 'machine'],
])('a machine with the host name "%s" has the node "%s"', (name, expected) => {
  expect(machineName(name)).toBe(expected);
  expect(nodeName(expected)).toBe(expected);
});

test('the host name of this machine is the default', () => {
  expect(machineName()).toBe(machineName(hostname()));
});
