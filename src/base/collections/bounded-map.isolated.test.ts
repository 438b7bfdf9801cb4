import { describe, expect, it } from 'vitest';
import { heapUsed } from '../../../test/support/heap.ts';
import { BoundedMap, detached, memoized, textBytes } from './bounded-map.ts';

const texts = (maxBytes: number) => new BoundedMap<string>({ maxBytes, bytesOf: textBytes });

describe('a bounded map', () => {
  it('returns what was set, until it is deleted', () => {
    const map = texts(10_000);
    expect(map.set('a', 'b')).toBe(true);
    expect([map.get('a'), map.has('a'), map.size]).toEqual(['b', true, 1]);
    expect(map.delete('a')).toBe(true);
    expect(map.delete('a')).toBe(false);
    expect([map.get('a'), map.has('a'), map.size, map.bytes]).toEqual([undefined, false, 0, 0]);
  });

  it('never holds more than its limit, whatever the keys and values are', () => {
    const map = texts(50_000);
    for (let i = 0; i < 5_000; i++) {
      map.set(`${i}${'k'.repeat((i * 7919) % 3_000)}`, 'v'.repeat((i * 104_729) % 3_000));
      expect(map.bytes).toBeLessThanOrEqual(50_000);
    }
    expect(map.size).toBeGreaterThan(1);
  });

  it('does not keep an entry that takes more than its share', () => {
    const map = texts(16_000);
    map.set('small', 'x');
    expect(map.set('k'.repeat(500), '')).toBe(false);
    expect(map.set('k', 'v'.repeat(500))).toBe(false);
    expect(map.set('k', 'v'.repeat(400))).toBe(true);
    expect(map.get('small')).toBe('x');
  });

  it('forgets the old value when the new one is too large', () => {
    const map = texts(16_000);
    map.set('k', 'old');
    map.set('k', 'v'.repeat(500));
    expect(map.get('k')).toBe(undefined);
    expect(map.bytes).toBe(0);
  });

  it('drops the entry that was set first', () => {
    const map = texts(10_000);
    for (const key of ['aa', 'bb', 'cc', 'aa']) map.set(key, '');
    for (let i = 10; map.has('bb'); i++) map.set(`${i}`, '');
    expect([map.has('bb'), map.has('cc'), map.has('aa')]).toEqual([false, true, true]);
  });

  it('counts a replaced value once', () => {
    const map = texts(10_000);
    map.set('a', 'x'.repeat(100));
    const { bytes } = map;
    for (let i = 0; i < 10; i++) map.set('a', 'y'.repeat(100));
    expect([map.bytes, map.size, map.values()]).toEqual([bytes, 1, ['y'.repeat(100)]]);
  });

  it('keeps values that are undefined', () => {
    const map = new BoundedMap<string | undefined>({ maxBytes: 10_000, bytesOf: () => 0 });
    map.set('a', undefined);
    expect([map.has('a'), map.get('a')]).toEqual([true, undefined]);
  });

  it('is empty after clear', () => {
    const map = texts(10_000);
    map.set('a', 'b');
    map.clear();
    expect([map.size, map.bytes]).toEqual([0, 0]);
  });

  it('does not keep alive the text that a key was cut from', () => {
    const map = new BoundedMap<number>({ maxBytes: 1_000_000, bytesOf: () => 8 });
    const before = heapUsed();
    for (let i = 0; i < 200; i++) map.set(`${i} ${'x'.repeat(1_000)}${'y'.repeat(500_000)}`.slice(0, 100), i);
    expect(map.size).toBe(200);
    expect(heapUsed() - before).toBeLessThan(10_000_000);
  });
});

it('copies a text without changing it', () => {
  for (const text of ['', 'a', 'x'.repeat(1_000), 'é\u{1f600}\ud800\0']) expect(detached(text)).toBe(text);
});

it('computes a remembered value only once', () => {
  let calls = 0;
  const length = memoized(
    (text: string) => {
      calls++;
      if (text === 'bad') throw new RangeError('bad');
      return text.length;
    },
    { maxBytes: 16_000, bytesOf: () => 8 },
  );
  expect([length('abc'), length('abc'), calls]).toEqual([3, 3, 1]);
  expect(() => length('bad')).toThrow('bad');
  expect(() => length('bad')).toThrow('bad');
  expect(calls).toBe(3);
  expect([length('x'.repeat(2_000)), length('x'.repeat(2_000)), calls]).toEqual([2_000, 2_000, 5]);
});
