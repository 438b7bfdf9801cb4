/** The servers of a cluster in its entry of a kubeconfig: an extension, which kubectl preserves and does not read. */
import { isHttpUrl } from '../../base/http/http-url.ts';

export const SERVERS_EXTENSION = 'quarterdeck/servers';

const MAX_SERVERS = 32;

/** Returns the field `extensions` of the entry. */
export function extensionsWith(servers: readonly string[]): readonly object[] {
  return [{ extension: { servers }, name: SERVERS_EXTENSION }];
}

/** Returns the URLs in the entry; none when it has no list, or one that this program has not written. */
export function serverList({ extensions }: Readonly<Record<string, unknown>>): readonly string[] {
  if (!Array.isArray(extensions)) return [];
  const found = extensions.find((each) => each?.name === SERVERS_EXTENSION)?.extension?.servers;
  return Array.isArray(found) ? found.slice(0, MAX_SERVERS).filter(isServer) : [];
}

/** Reports whether credentials may be sent there, if the server has a certificate of the cluster's authority. */
export function isServer(value: unknown): value is string {
  return typeof value === 'string' && isHttpUrl(value) && value.startsWith('https:');
}
