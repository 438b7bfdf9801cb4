/** The servers of the cluster that a connection leads to, as far as they are known without asking one. */
import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
import { rememberedServers } from './remembered-servers.ts';

/** Returns URLs; none when the connection is for its own server alone. */
export async function knownServers(connection: Connection): Promise<readonly string[]> {
  if (!mayUseOthers(connection)) return [];
  return [...new Set([...(connection.servers ?? []), ...(await rememberedServers(connection).read())])].sort();
}

/**
 * Credentials are sent only to servers that the authority of the kubeconfig vouches for, and not past a gateway, which has a
 * path.
 */
export function mayUseOthers({ server, ca, insecureSkipTlsVerify }: Connection): boolean {
  const { protocol, pathname } = new URL(server);
  return protocol === 'https:' && pathname === '/' && Boolean(ca) && !insecureSkipTlsVerify;
}
