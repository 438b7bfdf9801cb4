/** How the server reaches the agents of other processes. */

import type { DialGuard } from '../../../base/dial/dial-guard.ts';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Server } from '../../../server/index.ts';
import type { NodeConnection } from '../../../server/outbound/nodes/connection.ts';
import { httpsConnection } from '../../../server/outbound/nodes/https-connection.ts';
import { agentClientIdentity } from '../../pki/agent-client.ts';
import type { Pki } from '../../pki/pki.ts';

/** `pki` returns the current keys and certificates. */
export function remoteConnection(
  { agentAddress: addressOf }: Pick<Server, 'agentAddress'>,
  pki: () => Pki,
  { clock, random, guard }: { readonly clock: Clock; readonly random: Random; readonly guard: DialGuard },
): NodeConnection {
  return httpsConnection({ addressOf, clock, guard, identity: agentClientIdentity(pki, { clock, random }) });
}
