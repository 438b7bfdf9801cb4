import { expect, it } from 'vitest';
import { SlicedOutput } from './sliced-output.ts';

const MB = 1024 * 1024;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** An output whose slices are read when the test says so. */
function outputOf() {
  const slices: Buffer[] = [];
  let written: (error?: Error | null) => void = () => undefined;
  const output = new SlicedOutput((slice, _isLast, done) => {
    slices.push(slice);
    written = done;
  });
  return { output, slices, read: (error?: Error) => written(error) };
}

it('passes on a slice when the previous one has been read, and copies nothing', () => {
  const { output, slices, read } = outputOf();
  const large = Buffer.alloc(MB);
  output.push(large);
  output.push(Buffer.from('end'));
  let isEmpty = false;
  output.whenEmpty(() => {
    isEmpty = true;
  });
  expect(slices).toHaveLength(1);
  expect(slices[0]?.buffer).toBe(large.buffer);
  expect(slices[0]!.length).toBeLessThanOrEqual(64 * 1024);
  while (!isEmpty) read();
  expect(Buffer.concat(slices).length).toBe(MB + 3);
  expect(String(slices.at(-1))).toBe('end');
});

it('drops the rest when the client has disconnected', () => {
  const { output, slices, read } = outputOf();
  output.push(Buffer.alloc(MB));
  read(new Error('gone'));
  expect(slices).toHaveLength(1);
  expect(output).toMatchObject({ isEmpty: true, bytes: 0 });
});

it('spreads the slices of many outputs over turns of the event loop', async () => {
  await nextTurn();
  const outputs = Array.from({ length: 100 }, outputOf);
  for (const { output } of outputs) output.push(Buffer.alloc(MB));
  const begun = () => outputs.filter(({ slices }) => slices.length > 0).length;
  expect(begun()).toBe(32);
  await nextTurn();
  expect(begun()).toBe(64);
  while (begun() < 100) await nextTurn();
});
