/** Decides whether a cluster is private to the user who started it. */

import { isLoopback } from '../../../assembly/addresses.ts';
import { storeDriver } from '../../../store/drivers.ts';
import type { Settings } from '../flags.ts';

type AccessSettings = Pick<
  Settings,
  | 'bindAddress'
  | 'insecurePort'
  | 'anonymousAuth'
  | 'tokenAuthFile'
  | 'basicAuthFile'
  | 'clientCaFile'
  | 'requestheaderClientCaFile'
  | 'oidcIssuerUrl'
  | 'store'
>;

/**
 * Reports whether only holders of credentials that the cluster itself issued, on this machine, are expected as its users:
 * the server listens for clients on loopback, nobody else vouches for users, and no other server shares the store.
 */
export function isPrivateCluster(settings: AccessSettings): boolean {
  const { tokenAuthFile, basicAuthFile, clientCaFile, requestheaderClientCaFile, oidcIssuerUrl } = settings;
  const sources = [tokenAuthFile, basicAuthFile, clientCaFile, requestheaderClientCaFile, oidcIssuerUrl];
  return (
    isLoopback(settings.bindAddress) &&
    settings.insecurePort === 0 &&
    !settings.anonymousAuth &&
    sources.every((source) => source === undefined) &&
    !storeDriver(settings.store).shared
  );
}
