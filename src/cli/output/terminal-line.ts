/** Log lines for a terminal, where people read them between the steps of a start: without JSON. */
import { oneLine } from './one-line.ts';

interface Entry {
  readonly level: string;
  readonly time: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

interface LoggedError {
  readonly type?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

/** Erases a step that is shown on the line now. */
const NEW_LINE = '\r\x1b[2K';
const COLOURS: Readonly<Record<string, string>> = { warn: '\x1b[33m', error: '\x1b[31m' };

/** Makes one line of a JSON line. Errors have their stack below it. */
export function terminalLine(json: string): string {
  const { level, time, message, ...fields } = JSON.parse(json) as Entry;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const shown = Object.entries(fields).map(([name, value]) => `${name}: ${textOf(value)}`);
  const details = shown.length === 0 ? '' : ` (${shown.join(', ')})`;
  const line = `${NEW_LINE}${clock} ${COLOURS[level] ?? ''}${level}\x1b[0m ${oneLine(message)}${details}\n`;
  return level === 'error' ? `${line}${stacksOf(fields)}` : line;
}

function textOf(value: unknown): string {
  if (isError(value)) return oneLine(messagesOf(value).join(': '));
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

function messagesOf(error: LoggedError): string[] {
  const message = error.message || String(error.type);
  return [message, ...(isError(error.cause) ? messagesOf(error.cause) : [])];
}

const stacksOf = (fields: object): string =>
  Object.values(fields)
    .filter(isError)
    .flatMap(({ stack = '' }) => stack.split('\n').slice(1))
    .map((frame) => `    ${oneLine(frame)}\n`)
    .join('');

function isError(value: unknown): value is LoggedError {
  return typeof value === 'object' && value !== null && 'stack' in value && 'message' in value;
}
