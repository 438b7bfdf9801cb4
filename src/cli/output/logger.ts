/** The program's logger: one JSON object per line, written by pino. */
import { pino } from 'pino';
import type { LogFields, Logger } from '../../base/log.ts';
import { LineOutput } from './line-output.ts';

export const levels = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof levels)[number];

/** `target` is where lines go. A number is a file descriptor. */
export function createLogger(level: Level, target: number | { write(line: string): void } = 2): Logger {
  const destination = typeof target === 'number' ? outputTo(target) : target;
  const problem = () => (destination instanceof LineOutput ? destination.problem : undefined);
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
    problem,
  );
}

function outputTo(fd: number): LineOutput {
  const output = new LineOutput(fd, { droppedLine });
  process.once('exit', () => output.finish());
  return output;
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
