import { expect, test } from 'vitest';
import { createLogger, type Level } from './logger.ts';

function capture(level: Level) {
  const lines: string[] = [];
  const log = createLogger(level, { write: (line) => lines.push(line) });
  return { log, entries: () => lines.map((line) => JSON.parse(line)) };
}

test('a line is one JSON object with time, level, message and fields', () => {
  const { log, entries } = capture('info');
  log.info('ready', { port: 6443 });
  const [entry] = entries();
  expect(entry).toEqual({ level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), port: 6443, message: 'ready' });
});

test('lines below the level are left out', () => {
  const { log, entries } = capture('warn');
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  expect(entries().map(({ message }) => message)).toEqual(['c', 'd']);
});

test('an error keeps its stack and its causes', () => {
  const { log, entries } = capture('info');
  log.error('failed', { error: new Error('outer', { cause: new Error('inner') }) });
  expect(entries()[0].error).toMatchObject({ message: 'outer', cause: { message: 'inner' } });
  expect(entries()[0].error.stack).toContain('logger.test.ts');
});

test('fields of `with` are on every line', () => {
  const { log, entries } = capture('debug');
  log.with({ controller: 'namespace' }).debug('synced', { key: 'a' });
  expect(entries()[0]).toMatchObject({ controller: 'namespace', key: 'a', level: 'debug' });
});
