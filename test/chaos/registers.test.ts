import { expect, it } from 'vitest';
import { type Operation, type Version, violations } from './registers.ts';

const a: Version = { number: 3, value: 'a' };
const b: Version = { number: 7, value: 'b' };
const c: Version = { number: 9, value: 'c' };

const read = (version: Version, began: number, ended: number): Operation => ({ register: 'r', version, began, ended });
const write = (version: Version, replaced: number, began: number, ended: number): Operation => ({
  ...read(version, began, ended),
  replaced,
});
const found = (operations: readonly Operation[], versions = [a, b, c]) =>
  violations(operations, new Map([['r', versions]]));

it('operations that overlap may happen in any order', () => {
  expect(
    found([read(a, 0, 1), write(b, 3, 1, 5), read(b, 2, 3), read(a, 2, 4), write(c, 7, 5, 6), read(c, 6, 7)]),
  ).toEqual([]);
});

it('a read of an old version is stale once a newer one was acknowledged or seen', () => {
  expect(found([write(b, 3, 0, 1), read(a, 2, 3)])).toEqual([
    'read of r at 2 to 3: a@3: write of r at 0 to 1: b@7 had ended before',
  ]);
  expect(found([read(b, 0, 1), read(a, 2, 3)])).toHaveLength(1);
});

it('an acknowledged write that no watch showed is lost', () => {
  expect(found([write(c, 7, 0, 1)], [a, b])).toContain('write of r at 0 to 1: c@9: the watch showed nothing there');
});

it('a read of a value that was never there is found', () => {
  expect(found([read({ number: 7, value: 'x' }, 0, 1)])).toEqual([
    'read of r at 0 to 1: x@7: the watch showed b there',
  ]);
});

it('a write that skips a version has overwritten it', () => {
  expect(found([write(c, 3, 0, 1)])).toEqual(['write of r at 0 to 1: c@9: it replaced 7, not 3']);
});
