import { join, resolve } from 'node:path';
import { allControllers } from '../../../controllers/all.ts';
import type { Server } from '../../../server/index.ts';
import { storeDriver } from '../../../store/drivers.ts';
import type { Say } from '../../output/steps.ts';
import { signingAuthority } from '../../pki/authority.ts';
import type { Pki } from '../../pki/pki.ts';
import type { StartContext } from '../context.ts';
import { serverUrl } from '../identity/kubeconfig.ts';
import { tokenSigner } from '../identity/service-account-tokens.ts';
import { reachableAddress, servingNames } from '../listeners/addresses.ts';
import { chosen, isChosen, SCHEDULER } from './choice.ts';
import { startControllers } from './controllers.ts';
import { startScheduler } from './scheduler.ts';

interface ComponentDependencies {
  readonly server: Server;
  readonly pki: Pki;
}

/**
 * Prepares the controllers and the scheduler, and returns what starts them. They read all objects first, which can wait
 * until the server is ready.
 */
export function prepareComponents(
  { settings, directory, cleanup, clock, random, log }: StartContext,
  { server, pki }: ComponentDependencies,
  say: Say,
): () => void {
  const { bindAddress, port, serviceClusterIpRange } = settings;
  const all = allControllers({
    kinds: () => server.registry.kinds,
    onKindsChange: (listener) => server.registry.onChange(listener),
    // Simulated nodes bring their own ranges.
    podRange: settings.runtime === 'simulated' ? undefined : (settings.clusterCidr ?? '10.244.0.0/16'),
    volumesDirectory: resolve(settings.volumesDir ?? join(directory, 'volumes')),
    authority: pki.authority,
    mintToken: tokenSigner(pki.serviceAccountKey),
    signCertificate: signingAuthority({ ...pki.signing, maxLifetime: settings.clusterSigningDuration, clock, random }),
    reservedNames: servingNames(bindAddress, serviceClusterIpRange),
    server: serverUrl(reachableAddress(bindAddress, serviceClusterIpRange), port),
  });
  const controllers = chosen(all, settings);
  const schedules = isChosen(SCHEDULER, settings);
  say([...controllers.map(({ name }) => name), ...(schedules ? [SCHEDULER] : [])].join(', '));
  const options = { clock, random, log, isShared: storeDriver(settings.store).shared };
  return () => {
    cleanup.add(startControllers(controllers, server, options));
    if (schedules) cleanup.add(startScheduler(server, options));
  };
}
