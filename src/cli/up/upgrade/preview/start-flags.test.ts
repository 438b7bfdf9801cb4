import { expect, test } from 'vitest';
import { flag } from '../../../../base/flag.ts';
import * as value from '../../../flags/values.ts';
import { parseStart } from './start-flags.ts';

const FLAGS = [
  flag('--port <port>', { help: '', parse: value.port }),
  flag('--wait [bool]', { help: '' }),
  flag('--color <color>', { help: '', choices: ['red', 'blue'] }),
];
const parse = (...args: readonly string[]) => parseStart(['up', ...args], FLAGS);

test('flags that are known are accepted, in both spellings', () => {
  expect(parse('--port', '7000', '--color=red', '--wait')).toEqual({
    accepted: { port: 7000, color: 'red', wait: true },
    rejected: [],
  });
});

test.each([
  [['--gone', 'x'], ["unknown option '--gone'"]],
  [
    ['--gone=x', '--lost'],
    ["unknown option '--gone=x'", "unknown option '--lost'"],
  ],
  [['--port', 'many'], [expect.stringContaining("'--port <port>' argument 'many' is invalid")]],
  [['--color', 'green'], [expect.stringContaining('Allowed choices are red, blue')]],
])('%j is rejected, and the others are accepted', (args, rejected) => {
  expect(parse('--wait', ...args, '--color=blue')).toEqual({ accepted: { wait: true, color: 'blue' }, rejected });
});

test('a value that begins with a dash belongs to a flag that needs one', () => {
  expect(parse('--color', '-', '--wait').rejected).toHaveLength(1);
  expect(parse('--color', '-', '--wait').accepted).toEqual({ wait: true });
});
