import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eachChunk, eachInTurn } from './each-chunk.ts';

it('passes chunks on unchanged, one after the other', async () => {
  const stream = new PassThrough();
  const seen: string[] = [];
  let proceed: () => void = () => undefined;
  const ended = eachChunk(stream, (chunk) => {
    seen.push(chunk.toString());
    if (chunk.toString() !== 'b') return undefined;
    return new Promise((resolve) => {
      proceed = resolve;
    });
  });
  for (const chunk of ['a', 'b', 'c', 'd']) stream.write(chunk);
  stream.end();
  await setImmediate();
  expect(seen).toEqual(['a', 'b']);
  expect(stream.isPaused()).toBe(true);
  proceed();
  expect(await ended).toBeUndefined();
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
});

it('rejects with the error of the stream, or reports that it was closed', async () => {
  const failed = new PassThrough();
  const ended = eachChunk(failed, () => undefined);
  failed.destroy(new Error('lost'));
  expect(await ended).toMatchObject({ message: 'lost' });
  const closed = new PassThrough().destroy();
  await once(closed, 'close');
  expect(await eachChunk(closed, () => undefined)).toBeInstanceOf(Error);
});

it('does not wait for a listener that holds back a closed stream', async () => {
  const stream = new PassThrough();
  const seen: string[] = [];
  let proceed: () => void = () => undefined;
  const ended = eachChunk(stream, (chunk) => {
    seen.push(chunk.toString());
    return new Promise((resolve) => {
      proceed = resolve;
    });
  });
  stream.write('a');
  stream.write('b');
  await setImmediate();
  stream.destroy(new Error('lost'));
  expect(await ended).toMatchObject({ message: 'lost' });
  proceed();
  await setImmediate();
  expect(seen).toEqual(['a']);
});

it.each([
  ['throws', () => eachInTurn([1].values(), () => raise())],
  ['rejects', async () => raise()],
])('stops calling the listener after it %s', async (_how, fail) => {
  const stream = new PassThrough();
  let calls = 0;
  const ended = eachChunk(stream, () => {
    calls++;
    return fail();
  });
  stream.write('a');
  stream.write('b');
  expect(await ended).toMatchObject({ message: 'malformed' });
  stream.write('c');
  await setImmediate();
  expect(calls).toBe(1);
});

function raise(): never {
  throw new Error('malformed');
}
