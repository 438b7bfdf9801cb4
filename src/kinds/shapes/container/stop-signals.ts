/** Signals that can be used to stop a container. */
import { type FieldError, forbidden, notSupported } from '../../../schema/field-error.ts';

const plain = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE', 'POLL'],
  ...['PROF', 'PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'USR1'],
  ...['USR2', 'VTALRM', 'WINCH', 'XCPU', 'XFSZ'],
];

/** Real-time signals are named relative to both ends of their range. */
const realTime = [
  ...Array.from({ length: 16 }, (_, n) => (n ? `RTMIN+${n}` : 'RTMIN')),
  ...Array.from({ length: 15 }, (_, n) => (n ? `RTMAX-${n}` : 'RTMAX')),
];

const signals: Readonly<Record<string, readonly string[]>> = {
  linux: [...plain, ...realTime].map((name) => `SIG${name}`).sort(),
  windows: ['SIGKILL', 'SIGTERM'],
};

/** Errors of a stop signal on an operating system. */
export function stopSignal(signal: string, os: string | undefined): FieldError[] {
  if (os === undefined) return [forbidden('', 'may not be set for containers with empty `spec.os.name`')];
  const supported = Object.hasOwn(signals, os) ? signals[os] : undefined;
  return supported && !supported.includes(signal) ? [notSupported('', signal, supported)] : [];
}
