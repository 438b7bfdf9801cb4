/** Runs the controllers of the federation until it is told to stop. */

import { hostname } from 'node:os';
import { runFederationControllers } from '../../../assembly/federation/start-controllers.ts';
import { systemRandom } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { createClient } from '../../../client/client.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';
import type { FederatedKind } from '../../../federation/plan/kinds/federated-kind.ts';
import { federatedKinds } from '../../../federation/plan/kinds/federated-kinds.ts';
import { namedKubeconfig } from '../../flags/named-kubeconfig.ts';
import { logLevelOf } from '../../flags/verbosity.ts';
import { CliError } from '../../output/cli-error.ts';
import { createLogger } from '../../output/logger.ts';
import { untilStopSignal } from '../../process/signals.ts';
import { dnsPublication } from './dns.ts';
import type { FederationManagerFlags } from './flags.ts';
import { hostConnection } from './host-cluster.ts';

const DEFAULT_NAMESPACE = 'federation-system';
/** A health check that takes longer has failed. */
const PROBE_TIMEOUT_MS = 5_000;
/** Watches last this long, so that dead connections are noticed. */
const WATCH_SECONDS = 300;

/** Returns a check for kinds that `--controllers` lets the federation propagate. */
function propagation(
  switches: ReadonlyMap<string, boolean> = new Map(),
): (federated: Pick<FederatedKind, 'kind'>) => boolean {
  const known = federatedKinds.map(({ kind }) => kind.plural);
  const unknown = [...switches.keys()].find((plural) => !known.includes(plural));
  if (unknown !== undefined) throw new CliError(`--controllers: "${unknown}" is not one of ${known.join(', ')}`);
  return ({ kind }) => switches.get(kind.plural) ?? true;
}

export async function runFederationManager(flags: FederationManagerFlags): Promise<void> {
  const { kubeconfig, master } = flags;
  if (kubeconfig === undefined) throw new CliError('--kubeconfig is required');
  const propagates = propagation(flags.controllers);
  const dns = await dnsPublication(flags);
  const log = createLogger(logLevelOf(flags));
  const { POD_NAMESPACE: namespace = DEFAULT_NAMESPACE } = process.env;
  const connection = await namedKubeconfig('--kubeconfig', kubeconfig);
  const federation = httpsTransport({ ...connection, server: master || connection.server });
  const hostTransport = httpsTransport(await hostConnection(process.env));
  const host = createClient(hostTransport);
  const stop = new AbortController();
  void untilStopSignal(systemClock).then((signal) => {
    log.info('stopping', { signal });
    stop.abort();
  });
  log.info('started', { server: master ?? connection.server, namespace, dnsProvider: flags.dnsProvider ?? 'none' });
  await runFederationControllers({
    clock: systemClock,
    random: systemRandom,
    log,
    signal: stop.signal,
    namespace,
    host,
    dns,
    client: createClient(federation),
    leaderElect: flags.leaderElect,
    identity: process.env.POD_NAME ?? hostname(),
    periodMs: flags.clusterMonitorPeriod,
    timeoutMs: PROBE_TIMEOUT_MS,
    downAfterMs: flags.clusterUnavailableDelay,
    unschedulableAfterMs: flags.podUnschedulableDelay,
    watchSeconds: WATCH_SECONDS,
    propagates,
  });
  federation.close();
  hostTransport.close();
}
