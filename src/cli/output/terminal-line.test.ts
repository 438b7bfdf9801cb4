import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';
import { terminalLine } from './terminal-line.ts';

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[a-zA-Z]|\\r`, 'g');

function capture() {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line) => lines.push(terminalLine(line)) });
  return { log, text: () => lines.join('').replaceAll(ESCAPES, '') };
}

test('a terminal gets a line for people', () => {
  const { log, text } = capture();
  log.warn('the event loop was blocked', { thread: 'api', milliseconds: 204, work: { verb: 'list' } });
  expect(text()).toMatch(
    /^\d\d:\d\d:\d\d warn the event loop was blocked \(thread: api, milliseconds: 204, work: \{"verb":"list"\}\)\n$/,
  );
});

test('an error that is logged as such keeps its stack; a warning is one line', () => {
  const { log, text } = capture();
  const error = new Error('outer', { cause: new Error('inner') });
  log.warn('failed', { error });
  expect(text().split('\n')).toHaveLength(2);
  log.error('failed', { error });
  expect(text()).toContain('failed (error: outer: inner)\n    at ');
});

test('values do not control the terminal', () => {
  const lines: string[] = [];
  createLogger('info', { write: (line) => lines.push(line) }).info('a', { name: '\x1b]0;x\x07b\nc\u009b2J' });
  expect(terminalLine(lines[0]!).replaceAll(ESCAPES, '')).toMatch(/ info a \(name: \]0;x b c 2J\)\n$/);
});
