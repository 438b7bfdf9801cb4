/** Connections to other programs, for operations that need one. */
import type { DialGuard } from '../../base/dial/dial-guard.ts';
import type { NodeConnection } from './nodes/connection.ts';

export interface Outbound {
  /** Reaches the agents of nodes. */
  readonly nodes: NodeConnection;
  /** Checks the addresses that objects lead to before they are dialled. */
  readonly dialGuard: DialGuard;
}
