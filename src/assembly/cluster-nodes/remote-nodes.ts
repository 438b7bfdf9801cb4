/** How the server reaches the agents of other processes. */

import type { Random } from '../../base/random.ts';
import type { DialGuard } from '../../base/sockets/dial/dial-guard.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { AddressOf } from '../../server/index.ts';
import type { NodeConnection } from '../../server/outbound/nodes/connection.ts';
import { httpsConnection } from '../../server/outbound/nodes/https-connection.ts';
import { agentClientIdentity } from '../keys/agent-client.ts';
import type { Pki } from '../keys/pki.ts';

/** `pki` returns the current keys and certificates. */
export function remoteConnection(
  addressOf: AddressOf,
  pki: () => Pki,
  { clock, random, guard }: { readonly clock: Clock; readonly random: Random; readonly guard: DialGuard },
): NodeConnection {
  return httpsConnection({ addressOf, clock, guard, identity: agentClientIdentity(pki, { clock, random }) });
}
