import { hostname } from 'node:os';
import { allKinds } from '../../../kinds/all.ts';
import { createServer, type Server } from '../../../server/index.ts';
import { storeDriver } from '../../../store/drivers.ts';
import type { Store } from '../../../store/index.ts';
import type { Say } from '../../output/steps.ts';
import { release } from '../../version.ts';
import { isChosen } from '../components/choice.ts';
import type { StartContext } from '../context.ts';
import type { TokenSettings } from '../identity/service-account-tokens.ts';
import { advertisedAddress } from '../listeners/addresses.ts';
import { history } from '../store/open.ts';

interface ServerDependencies {
  readonly store: Store;
  readonly tokens: TokenSettings;
}

/** Creates the API server. It listens nowhere yet. */
export async function startServer(
  { settings, inputs, cleanup, clock, random, log, monitor }: StartContext,
  { store, tokens }: ServerDependencies,
  say: Say,
): Promise<Server> {
  const { bindAddress, port, serviceClusterIpRange, serviceNodePortRange } = settings;
  const { durable, shared, exclusive } = storeDriver(settings.store);
  const server = await createServer({
    ...{ store, kinds: allKinds, clock, random, log, monitor, serviceClusterIpRange, ...history(settings) },
    serviceNodePortRange: `${serviceNodePortRange.first}-${serviceNodePortRange.last}`,
    tokenIssuer: tokens.bound,
    release: durable && exclusive ? release : undefined,
    ...inputs.authorization,
    admission: inputs.admission,
    flowControl: inputs.flowControl,
    defaultRoles: true,
    garbageCollection: isChosen('garbage-collector', settings),
    sharedFrom: shared ? hostname() : undefined,
    advertise: { address: advertisedAddress(bindAddress, serviceClusterIpRange), port },
  });
  cleanup.add(async () => server.close());
  say(`${allKinds.length} kinds`);
  return server;
}
