/** Connections to other programs, for operations that use them. */
import type { DialGuard } from '../../base/sockets/dial/dial-guard.ts';
import type { NodeConnection } from './nodes/connection.ts';

export interface Outbound {
  readonly nodes: NodeConnection;
  /** Checks addresses from objects before they are dialled. */
  readonly dialGuard: DialGuard;
}
