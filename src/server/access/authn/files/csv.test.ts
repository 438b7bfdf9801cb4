import { expect, it } from 'vitest';
import { parseCsv, parseUsers } from './csv.ts';

it('reads quoted fields, and skips empty lines', () => {
  expect(parseCsv('a,b\r\n\n"c,d","e ""f"""\n"two\nlines",\ng,h"i')).toEqual([
    ['a', 'b'],
    ['c,d', 'e "f"'],
    ['two\nlines', ''],
    ['g', 'h"i'],
  ]);
  expect(parseCsv('')).toEqual([]);
});

it('reports errors in a file of users', () => {
  expect(() => parseUsers('a,b,1\nc,d', 'token')).toThrow(
    'record 2 must have at least 3 columns (token, user name, user uid), found 2',
  );
  expect(() => parseUsers(',b,1', 'password')).toThrow('record 1 has an empty password');
  expect(() => parseUsers('"a,b,1', 'token')).toThrow('a quoted field is not closed');
});
