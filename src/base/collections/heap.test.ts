import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { Heap } from './heap.ts';

it('returns the smallest item first, whatever the order of insertion', () => {
  forAll(fc.array(fc.integer()), (numbers) => {
    const heap = new Heap<number>((a, b) => a < b);
    for (const each of numbers) heap.push(each);
    expect(heap.size).toBe(numbers.length);
    const sorted = [...numbers].sort((a, b) => a - b);
    expect(heap.peek()).toBe(sorted[0]);
    expect(numbers.map(() => heap.pop())).toEqual(sorted);
    expect(heap.pop()).toBeUndefined();
    for (const each of numbers) heap.push(each);
    heap.clear();
    expect([heap.size, heap.peek()]).toEqual([0, undefined]);
  });
});
