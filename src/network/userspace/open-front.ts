/** The contract of something that listens for a front. */
import type { Front } from './fronts.ts';

export interface OpenFront {
  /** Serves new connections by another front with the same address and protocol. */
  use(front: Front): void;
  /** Accepts no more. Connections go on, where there are any. */
  close(): Promise<void>;
}
