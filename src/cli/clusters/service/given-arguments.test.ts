import { join } from 'node:path';
import { expect, test } from 'vitest';
import { flag } from '../../../base/flag.ts';
import { givenArguments } from './given-arguments.ts';

const FLAGS = [
  flag('--port <port>', { help: '' }),
  flag('--wait [bool]', { help: '' }),
  flag('--detach', { help: '' }),
  flag('--audit-log-path <file>', { help: '' }),
];

test.each([
  [['--port', '1'], ['--port=1']],
  [['--port=1=2'], ['--port=1=2']],
  [
    ['--wait', 'false', '--detach'],
    ['--wait=false', '--detach'],
  ],
  [
    ['--wait', '--port', '1'],
    ['--wait', '--port=1'],
  ],
  [['--audit-log-path', 'a b'], [`--audit-log-path=${join(process.cwd(), 'a b')}`]],
  [['--audit-log-path', '-'], ['--audit-log-path=-']],
  [['--audit-log-path='], ['--audit-log-path=']],
])('%j is repeated as %j', (args, repeated) => {
  expect(givenArguments(args, FLAGS, new Set())).toEqual(repeated);
});

test('flags that are not for the unit are left out with their values', () => {
  expect(givenArguments(['--port', '1', '--detach', '--wait'], FLAGS, new Set(['--port', '--detach']))).toEqual([
    '--wait',
  ]);
});
