/** Structured logging: the message is constant, what varies goes into fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
  /** Returns why log lines are being lost; undefined when none are. */
  problem?(): string | undefined;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Discards all messages. */
export const silent: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silent,
};
