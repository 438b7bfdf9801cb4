/** Stop signals by their number in CRI, which is not the number of the signal. The first one is the image's or runtime's own. */
const NAMED = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE', 'POLL'],
  ...['PROF', 'PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'USR1'],
  ...['USR2', 'VTALRM', 'WINCH', 'XCPU', 'XFSZ', 'RTMIN'],
];
const counted = (prefix: string, numbers: readonly number[]) => numbers.map((number) => `${prefix}${number}`);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Written as in a container's `stopSignal`: `SIGTERM`, `SIGRTMIN+1`. */
export const SIGNALS: readonly [string, ...string[]] = [
  '',
  ...[...NAMED, ...counted('RTMIN+', upTo(15)), ...counted('RTMAX-', upTo(14).reverse()), 'RTMAX'].map(
    (name) => `SIG${name}`,
  ),
];
