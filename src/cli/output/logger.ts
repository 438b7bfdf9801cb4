/** The program's logger: one JSON object per line, written by pino. */
import { pino } from 'pino';
import type { LogFields, Logger } from '../../base/log.ts';

export const levels = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof levels)[number];

/** `target` is where lines go. A number is a file descriptor, which is written synchronously so that a crash loses no line. */
export function createLogger(level: Level, target: number | { write(line: string): void } = 2): Logger {
  const destination = typeof target === 'number' ? pino.destination({ fd: target, sync: true }) : target;
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
  );
}

function wrap(logger: pino.Logger): Logger {
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
    with: (fields: LogFields) => wrap(logger.child(fields)),
  };
}
