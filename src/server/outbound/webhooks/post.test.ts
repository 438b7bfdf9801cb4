import { expect, it } from 'vitest';
import { parseAnswer } from './post.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

it('parses the deepest object', () => {
  expect(parseAnswer('{"a":[1]}')).toEqual({ a: [1] });
  expect(parseAnswer(nested(1010))).toBeInstanceOf(Array);
  expect(() => parseAnswer('nonsense')).toThrow(SyntaxError);
});

it.each(['[', '{"a":', '[{"a":'])('rejects megabytes of %s in no time', (piece) => {
  const text = piece.repeat(8_000_000 / piece.length);
  const before = process.cpuUsage();
  expect(() => parseAnswer(text)).toThrow('json: exceeded max depth');
  // JSON.parse alone would take hundreds of milliseconds.
  expect(process.cpuUsage(before).user).toBeLessThan(50_000);
});

it('rejects more parts than the caller expects', () => {
  expect(parseAnswer('{"a":[1,2]}', 4)).toEqual({ a: [1, 2] });
  expect(() => parseAnswer('{"a":[1,2]}', 3)).toThrow('json: more than 3 fields and list items');
});
