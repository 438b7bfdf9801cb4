import { hostname } from 'node:os';
import type { Handle } from '../../../api/call.ts';
import { allKinds } from '../../../kinds/all.ts';
import { Clock } from '../../../kinds/groups/testing/clock.ts';
import { Fault } from '../../../kinds/groups/testing/fault.ts';
import { createServer, type Server } from '../../../server/index.ts';
import { FaultInjector } from '../../../server/serving/faults/fault-injector.ts';
import { storeDriver } from '../../../store/drivers.ts';
import type { Store } from '../../../store/index.ts';
import type { Say } from '../../output/steps.ts';
import { machineGuard } from '../../process/machine-guard.ts';
import { release } from '../../version.ts';
import { isChosen } from '../components/choice.ts';
import type { StartContext } from '../context.ts';
import type { TokenSettings } from '../identity/service-account-tokens.ts';
import { advertisedAddress } from '../listeners/addresses.ts';
import { history } from '../store/open.ts';
import { followFaults } from '../testing/faults.ts';

type Intercept = (handle: Handle) => Handle;

interface ServerDependencies {
  readonly store: Store;
  readonly tokens: TokenSettings;
}

/** Who moves the clock by days would otherwise wait for every component to start its watches again, twice an hour. */
const MANUAL_CLOCK_WATCH_MS = 7 * 86_400_000;

/** Creates the API server. It listens nowhere yet. */
export async function startServer(
  context: StartContext,
  { store, tokens }: ServerDependencies,
  say: Say,
): Promise<Server> {
  const { settings, inputs, cleanup, clock, random, log, monitor, manual } = context;
  const { bindAddress, port, serviceClusterIpRange, serviceNodePortRange } = settings;
  const { durable, shared, exclusive } = storeDriver(settings.store);
  const kinds = [...allKinds, ...(manual ? [Clock] : []), ...(settings.faults ? [Fault] : [])];
  // Faults are left alone, so that one that concerns everything can be removed.
  const injector = settings.faults ? new FaultInjector({ clock, random, spared: Fault.plural }) : undefined;
  const counted: Intercept = manual?.intercept ?? ((handle) => handle);
  const server = await createServer({
    ...{ store, kinds, clock, random, log, monitor, serviceClusterIpRange, ...history(settings) },
    serviceNodePortRange: `${serviceNodePortRange.first}-${serviceNodePortRange.last}`,
    minWatchMs: manual && MANUAL_CLOCK_WATCH_MS,
    intercept: injector ? (handle) => injector.intercept(counted(handle)) : manual?.intercept,
    tokenIssuer: tokens.bound,
    release: durable && exclusive ? release : undefined,
    ...inputs.authorization,
    admission: inputs.admission,
    flowControl: inputs.flowControl,
    defaultRoles: true,
    aggregation: true,
    dialGuard: machineGuard(settings),
    garbageCollection: isChosen('garbage-collector', settings),
    sharedFrom: shared ? hostname() : undefined,
    advertise: { address: advertisedAddress(bindAddress, serviceClusterIpRange), port },
  });
  cleanup.add(async () => server.close());
  if (injector) followFaults(context, server, injector);
  say(`${kinds.length} kinds`);
  return server;
}
