import { afterEach, expect, it, vi } from 'vitest';
import type { TerminalSize } from '../../base/programs/process-streams.ts';
import { ResizeReader } from './command-channels.ts';

afterEach(() => vi.restoreAllMocks());

function reader() {
  const sizes: TerminalSize[] = [];
  const resize = new ResizeReader();
  resize.onResize((size) => sizes.push(size));
  return { resize, sizes };
}

it('reads sizes, in pieces and several at a time', () => {
  const { resize, sizes } = reader();
  resize.push(Buffer.from('{"Width":80,'));
  resize.push(Buffer.from('"Height":24}{"Width":1,"Height":2}\n'));
  expect(sizes).toEqual([
    { columns: 80, rows: 24 },
    { columns: 1, rows: 2 },
  ]);
});

it('ignores values that are not sizes', () => {
  const { resize, sizes } = reader();
  const nested = '['.repeat(30_000) + ']'.repeat(30_000);
  for (const width of ['-1', '65536', '1.5', '"80"', 'null', nested]) {
    resize.push(Buffer.from(`{"Width":${width},"Height":24}`));
  }
  expect(sizes).toEqual([]);
});

it('stops reading after malformed input', () => {
  const { resize, sizes } = reader();
  const parse = vi.spyOn(JSON, 'parse');
  resize.push(Buffer.alloc(64 * 1024, '}'));
  resize.push(Buffer.from('{"Width":80,"Height":24}'));
  expect(parse).toHaveBeenCalledTimes(1);
  expect(sizes).toEqual([]);
});
