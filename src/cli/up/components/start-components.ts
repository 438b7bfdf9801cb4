import { createPrivateKey } from 'node:crypto';
import { join } from 'node:path';
import { allControllers } from '../../../controllers/all.ts';
import { signingAuthority } from '../../../controllers/identity/certificates/authority.ts';
import type { Controller } from '../../../controllers/loop/define.ts';
import { QueueMetrics } from '../../../controllers/loop/queue-metrics.ts';
import { SchedulerMetrics } from '../../../scheduler/metrics.ts';
import { legacyTokenSigner } from '../../../server/access/authn/legacy-token-signer.ts';
import type { Server } from '../../../server/index.ts';
import type { Metrics } from '../../../server/serving/metrics/metrics.ts';
import { storeDriver } from '../../../store/drivers.ts';
import type { Say } from '../../output/steps.ts';
import type { Pki } from '../../pki/pki.ts';
import type { StartContext } from '../context.ts';
import { serverUrl } from '../identity/kubeconfig.ts';
import { reachableAddress, servingNames } from '../listeners/addresses.ts';
import { chosen, isChosen, SCHEDULER } from './choice.ts';
import { startControllers } from './controllers.ts';
import { hasRealPods, type NodePlan } from './plan-nodes.ts';
import { startScheduler } from './scheduler.ts';

interface ComponentDependencies {
  readonly server: Server;
  readonly pki: Pki;
  readonly metrics: Metrics;
}

export interface Components {
  /** They read all objects first, which can wait until the server is ready. */
  start(): void;
  /** Uses other keys and certificates from now on. */
  use(pki: Pki): Promise<void>;
}

/** Prepares the controllers and the scheduler. */
export function prepareComponents(
  context: StartContext,
  { server, pki, metrics }: ComponentDependencies,
  say: Say,
): Components {
  const { settings, cleanup, clock, random, log, monitor } = context;
  const all = controllersFor(context, server, pki);
  let controllers = chosen(all, settings);
  const schedules = isChosen(SCHEDULER, settings);
  const count = controllers.length === all.length ? `${all.length}` : `${controllers.length} of ${all.length}`;
  say(`${count}, ${schedules ? 'and the' : 'no'} scheduler`);
  const options = { clock, random, log, monitor, isShared: storeDriver(settings.store).shared };
  const queues = new QueueMetrics(clock);
  const scheduling = new SchedulerMetrics();
  metrics.add(queues, schedules ? scheduling : undefined);
  let stopControllers: (() => Promise<void>) | undefined;
  return {
    start() {
      stopControllers = startControllers(controllers, server, { ...options, metrics: queues });
      cleanup.add(async () => stopControllers?.());
      if (schedules) cleanup.add(startScheduler(server, { ...options, metrics: scheduling }));
    },
    async use(next) {
      controllers = chosen(controllersFor(context, server, next), settings);
      if (!stopControllers) return;
      await stopControllers();
      stopControllers = startControllers(controllers, server, { ...options, metrics: queues });
    },
  };
}

function controllersFor(
  { settings, inputs, directory, clock, random }: StartContext,
  server: Server,
  pki: Pki,
): readonly Controller[] {
  const { bindAddress, port, serviceClusterIpRange } = settings;
  return allControllers({
    kinds: () => server.registry.kinds,
    aggregated: () => server.backends.proxied(),
    onKindsChange: (listener) => server.backends.onChange(listener),
    podRange: hasOwnRanges(inputs.nodes) ? undefined : inputs.nodes.clusterCidr,
    volumesDirectory: settings.volumesDir ?? join(directory, 'volumes'),
    authority: pki.authority,
    mintToken: legacyTokenSigner(createPrivateKey(pki.serviceAccountKey)),
    signCertificate: signingAuthority({ ...pki.signing, maxLifetime: settings.clusterSigningDuration, clock, random }),
    reservedNames: servingNames(settings, hasRealPods(inputs.nodes)),
    serverPort: port,
    server: serverUrl(reachableAddress(bindAddress, serviceClusterIpRange, hasRealPods(inputs.nodes)), port),
  });
}

/** Simulated nodes bring their own ranges. */
function hasOwnRanges({ runtime, names }: NodePlan): boolean {
  return runtime === 'simulated' && names.length > 0;
}
