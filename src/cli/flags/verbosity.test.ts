import { expect, it } from 'vitest';
import { logLevelOf } from './verbosity.ts';

it.each([
  [{ logLevel: 'warn' }, 'warn'],
  [{ logLevel: 'info', v: 2 }, 'info'],
  [{ logLevel: 'info', v: 4 }, 'debug'],
] as const)('%j logs from %s on', (flags, level) => {
  expect(logLevelOf(flags)).toBe(level);
});
