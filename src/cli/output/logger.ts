/** The program's logger: one JSON object per line, written by pino; on a terminal, lines for people. */
import { isatty } from 'node:tty';
import { pino } from 'pino';
import type { LogFields, Logger } from '../../base/log.ts';
import { LineOutput } from './line-output.ts';
import { terminalLine } from './terminal-line.ts';

export const levels = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof levels)[number];

/** `target` is where lines go. A number is a file descriptor. */
export function createLogger(level: Level, target: number | { write(line: string): void } = 2): Logger {
  const destination: Destination = typeof target === 'number' ? outputTo(target) : target;
  return wrap(
    pino(
      {
        level,
        base: null,
        messageKey: 'message',
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: pino.stdSerializers.errWithCause },
      },
      destination,
    ),
    () => destination.problem,
  );
}

interface Destination {
  write(line: string): void;
  /** Why lines are lost now. */
  readonly problem?: string | undefined;
}

function outputTo(fd: number): Destination {
  const format = isatty(fd) ? terminalLine : (line: string) => line;
  const output = new LineOutput(fd, { droppedLine: (count) => format(droppedLine(count)) });
  process.once('exit', () => output.finish());
  return {
    write: (line) => output.write(format(line)),
    get problem() {
      return output.problem;
    },
  };
}

function droppedLine(count: number): string {
  const message = 'lines of this log were dropped: nobody read it';
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), count, message })}\n`;
}

function wrap(logger: pino.Logger, problem: () => string | undefined): Logger {
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
    with: (fields: LogFields) => wrap(logger.child(fields), problem),
    problem,
  };
}
