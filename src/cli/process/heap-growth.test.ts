import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const source = new URL('./heap-growth.ts', import.meta.url).href;

/** The largest heap, in bytes per byte in use, of a program that keeps some objects and replaces others. */
async function largestHeap(isLimited: boolean): Promise<number> {
  const script = `
    import { getHeapStatistics } from 'node:v8';
    import { limitHeapGrowth } from ${JSON.stringify(source)};
    if (${isLimited}) limitHeapGrowth();
    const kept = Array.from({ length: 200_000 }, (_, i) => ({ i, list: [i], text: 'x' + i }));
    const inUse = getHeapStatistics().used_heap_size;
    const replaced = new Array(50_000);
    let largest = 0;
    for (let i = 0; i < 1_500_000; i++) {
      replaced[i % replaced.length] = { i, list: [i, i, i, i] };
      if (i % 10_000 === 0) largest = Math.max(largest, getHeapStatistics().total_heap_size);
    }
    console.log(kept.length > 0 ? largest / inUse : 0);
  `;
  const program = ['--import', 'tsx', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  return Number(stdout);
}

it('the heap stays small beside the objects in use', async () => {
  expect(await largestHeap(true)).toBeLessThan(0.75 * (await largestHeap(false)));
}, 60_000);
