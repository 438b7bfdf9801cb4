/** The contract of something that listens for a front. */
import type { Front } from './fronts.ts';

export interface OpenFront {
  /** Serves new connections by another front with the same address and protocol. */
  use(front: Front): void;
  /** Stops accepting connections. Open ones continue. */
  close(): Promise<void>;
}
