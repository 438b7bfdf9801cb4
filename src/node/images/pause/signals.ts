/** Signals of Linux, which both architectures number alike. */
export const SIGINT = 2;
export const SIGTERM = 15;
export const SIGCHLD = 17;

/** The set of the signals that the program waits for, as the kernel reads it. */
export const SIGNAL_SET_BYTES = 8;

export function signalSet(): number[] {
  const set = Buffer.alloc(SIGNAL_SET_BYTES);
  set.writeUInt32LE([SIGINT, SIGTERM, SIGCHLD].reduce((bits, signal) => bits | (1 << (signal - 1)), 0) >>> 0);
  return [...set];
}
