import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { IndexSet } from './index-set.ts';

const indexes = fc.uniqueArray(fc.nat({ max: 40 }), { maxLength: 30 });
const sorted = (values: Iterable<number>) => [...values].sort((a, b) => a - b);

it('a set of indexes is written with commas and ranges', () => {
  expect(String(IndexSet.of([3, 1, 4, 5, 7, 8]))).toBe('1,3-5,7,8');
  expect(String(IndexSet.of([]))).toBe('');
});

it('a set of indexes is read as it was written', () => {
  forAll(indexes, (values) => {
    const set = IndexSet.of(values);
    expect(String(IndexSet.parse(String(set), 100))).toBe(String(set));
    expect(set.size).toBe(values.length);
  });
});

it('a set of indexes skips invalid indexes and those beyond the limit', () => {
  expect(String(IndexSet.parse('0-3,5-9,12', 8))).toBe('0-3,5-7');
  expect(String(IndexSet.parse('1,x,3-,-4,5', 8))).toBe('1,5');
  expect(IndexSet.parse(undefined, 8).size).toBe(0);
});

it('a set of indexes is the same whatever the order of its text is', () => {
  expect(String(IndexSet.parse('7-9,1,3-5,4,0', 100))).toBe('0,1,3-5,7-9');
  expect(String(IndexSet.parse('1-5,3,2,8', 100))).toBe('1-5,8');
});

it('a set of indexes contains its elements, and so does its union', () => {
  forAll(indexes, indexes, (one, other) => {
    const union = IndexSet.of(one).with(IndexSet.of(other));
    const all = new Set([...one, ...other]);
    expect(String(union)).toBe(String(IndexSet.of(all)));
    for (let index = 0; index <= 41; index++) expect(union.has(index)).toBe(all.has(index));
    const common = one.filter((index) => other.includes(index));
    expect(IndexSet.of(one).inCommon(IndexSet.of(other))).toBe(common.length);
  });
});

it('a set of indexes finds the first missing ones', () => {
  forAll(indexes, fc.nat({ max: 10 }), fc.nat({ max: 45 }), (values, count, below) => {
    const missing = Array.from({ length: below }, (_, index) => index).filter((index) => !values.includes(index));
    expect(IndexSet.of(values).firstMissing(count, below)).toEqual(sorted(missing).slice(0, count));
  });
});
