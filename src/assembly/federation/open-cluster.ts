import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import { foreignTransport } from '../../client/transport/foreign-transport.ts';
import {
  FOREIGN_LIMITS,
  type HttpsTransportOptions,
  httpsTransport,
} from '../../client/transport/http/https-transport.ts';
import { UnparsedBytes } from '../../client/transport/http/unparsed-bytes.ts';
import type { Transport } from '../../client/transport/transport.ts';

/** Connects to a cluster that has to do with a federation. Whoever runs it may answer anything: it is checked, and has limits. */
export function openCluster(
  connection: Connection,
  options: Pick<HttpsTransportOptions, 'timeout' | 'readTimeout' | 'clock'> = {},
): { readonly transport: Transport; close(): void } {
  const unparsed = new UnparsedBytes(FOREIGN_LIMITS.maxBytes);
  const https = httpsTransport({ ...connection, ...options, limits: { ...FOREIGN_LIMITS, unparsed } });
  const { host: peer } = new URL(connection.server);
  return {
    transport: foreignTransport(https, { peer, maxListBytes: FOREIGN_LIMITS.maxBytes }),
    close: () => https.close(),
  };
}
