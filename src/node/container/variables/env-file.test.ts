import { expect, it } from 'vitest';
import { variableInFile } from './env-file.ts';

it.each([
  ["A='1'\nB='2'\n", 'B', '2'],
  ["# comment\n\n  A='x' # why\n", 'A', 'x'],
  ["A='first\nsecond'\n", 'A', 'first\nsecond'],
  ["A= 'x'\n", 'A', ''],
  ["A='$(B) \\n \"'", 'A', '$(B) \\n "'],
  ["A='1'\r\nB='2'\r\n", 'A', '1'],
  ["A='1'\nA='2'\n", 'A', '1'],
  ['', 'A', ''],
])('reads %j', (text, key, value) => {
  expect(variableInFile(text, key)).toBe(value);
});

it.each([
  ['A', "invalid environment variable format at line 1: missing '='"],
  ["\n='x'", 'invalid environment variable format at line 2: empty variable name'],
  ["A ='x'", "invalid environment variable format at line 1: whitespace before '=' is not allowed"],
  ['A=x', 'invalid environment variable format at line 1: value must be enclosed in single quotes'],
  ["A='x'y", 'invalid environment variable format at line 1: unexpected content after closing quote'],
  ["\nA='x\ny", 'invalid environment variable format starting at line 2: unclosed single quote'],
])('rejects %j', (text, message) => {
  expect(() => variableInFile(text, 'Z')).toThrow(message);
});
