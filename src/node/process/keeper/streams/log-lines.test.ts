import { expect, it } from 'vitest';
import { LogLines, logTime } from './log-lines.ts';

const TIME = '2030-01-01T00:00:00.000000000Z';

it('writes a line for each line, whatever the chunks are', () => {
  const lines = new LogLines('stdout');
  expect(lines.add(Buffer.from('one\ntw'), TIME).toString()).toBe(`${TIME} stdout F one\n`);
  expect(lines.add(Buffer.from('o\n\n'), TIME).toString()).toBe(`${TIME} stdout F two\n${TIME} stdout F \n`);
  expect(lines.end(TIME).toString()).toBe('');
});

it('divides a line of more than 16 KiB, and marks all parts but the last', () => {
  const lines = new LogLines('stderr');
  const written = lines.add(Buffer.from(`${'x'.repeat(40_000)}\n`), TIME).toString();
  const parts = written.trimEnd().split('\n');
  expect(parts.map((part) => [part.split(' ')[2], part.split(' ')[3]!.length])).toEqual([
    ['P', 16_384],
    ['P', 16_384],
    ['F', 7_232],
  ]);
});

it('writes what has no end at the end', () => {
  const lines = new LogLines('stdout');
  expect(lines.add(Buffer.from('rest'), TIME).toString()).toBe('');
  expect(lines.end(TIME).toString()).toBe(`${TIME} stdout P rest\n`);
});

it('keeps bytes that are not UTF-8', () => {
  const lines = new LogLines('stdout');
  expect(lines.add(Buffer.from([0xff, 0x00, 10]), TIME)).toEqual(
    Buffer.concat([Buffer.from(`${TIME} stdout F `), Buffer.from([0xff, 0x00, 10])]),
  );
});

it('has nine digits of a second', () => {
  expect(logTime(Date.parse('2030-01-01T00:00:00.123Z'))).toBe('2030-01-01T00:00:00.123000000Z');
  expect(logTime(1_000.25)).toBe('1970-01-01T00:00:01.000250000Z');
});
