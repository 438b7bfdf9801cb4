/** The start of a cluster, as its user sees it. What is opened is added to the clean-up, which closes it in reverse order. */
import { serverUrl, urlOf } from '../../../assembly/addresses.ts';
import { type StartedCluster, startCluster } from '../../../assembly/cluster/start-cluster.ts';
import { type UnreadyNode, untilNodesReady } from '../../../assembly/cluster-nodes/nodes-ready.ts';
import type { Pki } from '../../../assembly/keys/pki.ts';
import { startFront } from '../../../assembly/threads/front-thread.ts';
import { limitHeapGrowth } from '../../../assembly/threads/heap-growth.ts';
import { collectWithoutHelpers, lowerHelperPriority } from '../../../assembly/threads/helper-threads.ts';
import { rememberElsewhere } from '../../clusters/elsewhere/elsewhere.ts';
import { writeLastStart } from '../../clusters/last-start.ts';
import { givenArguments } from '../../clusters/service/given-arguments.ts';
import { clustersHome } from '../../flags/cluster.ts';
import { explainListening } from '../../process/listen.ts';
import { version } from '../../process/version.ts';
import type { Environment, StartContext } from '../context.ts';
import { upFlags } from '../flags.ts';
import { keepJoin } from '../ha/join.ts';
import { type Publication, publishAccess, publishedFile } from '../identity/kubeconfig.ts';
import { republishing } from '../identity/republish.ts';
import { reachProblem } from '../listeners/self-check.ts';
import { announcement } from '../messages/announcement.ts';
import type { GivenFlags } from '../settings/settle.ts';
import { apiAddress, clusterOptions } from './cluster-options.ts';
import { prepare } from './prepare.ts';

/** How long the nodes may take. */
const NODES_READY_TIMEOUT_MS = 60_000;

/** Resolves when the cluster is ready, with the nodes that are not. */
export async function start(given: GivenFlags, environment: Environment): Promise<readonly UnreadyNode[]> {
  const { steps, cleanup, machineClock, log, stopSignal } = environment;
  lowerHelperPriority(log);
  const openListeners = startFront(cleanup);
  const { directory, context, joined } = await prepare(given, environment);
  const { settings } = context;
  steps.line(`Quarterdeck ${version}, cluster "${settings.name}"`);
  await steps.run('directory', async (say) => {
    await directory.create();
    if (joined) {
      await keepJoin(joined, directory.path, settings);
      await directory.remember(settings);
    }
    say(directory.isNew ? `${directory.path} (new)` : directory.path);
  });
  const { bindAddress: host, port, insecurePort } = settings;
  const cluster = await explainListening({ host, port, portFlags: { [insecurePort]: '--insecure-port' } }, () =>
    startCluster(clusterOptions(context, openListeners)),
  );
  const { leftOut, starting } = cluster;
  if (leftOut.length > 0) steps.line(describeLeftOut(leftOut));
  await directory.remember(settings);
  const access = () => accessOf(context, cluster);
  const published = await steps.run('kubeconfig', (say) => publishAccess(access(), say));
  await announce(context);
  cluster.open();
  const seconds = secondsSinceStart();
  log.info('ready', { server: serverUrl(host, port), seconds: Number(seconds) });
  const waits = settings.wait && starting.length > 0;
  const announceReady = (unready: readonly UnreadyNode[] = []) =>
    steps.line(announcement(context, { published, seconds: secondsSinceStart(), unready }));
  if (!waits) announceReady();
  const checkReach = reachCheck(context, () => cluster.keys());
  limitHeapGrowth();
  collectWithoutHelpers();
  await cluster.run(republishing(access, log));
  await checkReach();
  if (!waits) {
    cluster.confirm();
    return [];
  }
  const unready = await steps.run('waiting', async (say) => {
    const [names, ready] = [starting.map(({ name }) => name).join(', '), `the API is ready after ${seconds} s`];
    say(`${ready}; waiting for ${names}`);
    const options = { clock: machineClock, timeoutMs: NODES_READY_TIMEOUT_MS, signal: stopSignal };
    const found = await untilNodesReady(starting, options);
    say(
      `${ready}; ${found.length === 0 ? names : `${starting.length - found.length} of ${starting.length} nodes`} ready`,
    );
    return found;
  });
  announceReady(unready);
  if (unready.length === 0) cluster.confirm();
  else confirmLater(cluster, environment);
  await checkReach();
  return unready;
}

/** How long a server whose nodes are not ready leaves the way back open: an upgrade is rolled back by then. */
const UNREADY_CONFIRM_MS = 300_000;

function confirmLater(cluster: StartedCluster, { machineClock, cleanup }: Environment): void {
  const timer = machineClock.timer(UNREADY_CONFIRM_MS, () => cluster.confirm());
  cleanup.add(async () => timer.cancel());
}

/** Says once what keeps clients from the server. Pods may have taken its port, those of an earlier start as well. */
function reachCheck({ settings, inputs, steps }: StartContext, pki: () => Pki): () => Promise<void> {
  const servers = new Set([serverUrl(settings.bindAddress, settings.port), urlOf(apiAddress({ settings, inputs }))]);
  const said = new Set<string>();
  return async () => {
    const { authority: ca, admin } = pki();
    const credentials = { ca, cert: admin.certificate, key: admin.key };
    const found = await Promise.all([...servers].map((server) => reachProblem(server, credentials)));
    for (const problem of found) {
      if (problem === undefined || said.has(problem)) continue;
      said.add(problem);
      steps.line(`\n${problem}`);
    }
  };
}

const secondsSinceStart = () => (performance.now() / 1_000).toFixed(2);

const MAX_NAMED_NODES = 10;

function describeLeftOut(names: readonly string[]): string {
  const more = names.length > MAX_NAMED_NODES ? ` and ${names.length - MAX_NAMED_NODES} more` : '';
  const named = `${names.slice(0, MAX_NAMED_NODES).join(', ')}${more}`;
  return `  left out: ${named}; NotReady until a start runs them again (--nodes), or kubectl delete node removes them`;
}

/** The administrator's access now, and where it is written to. */
function accessOf({ settings, directory, clock }: StartContext, cluster: StartedCluster): Publication {
  const { name, bindAddress, port, kubeconfig } = settings;
  const { authority: ca, admin } = cluster.keys();
  const servers = cluster.servers();
  const access = { name, server: serverUrl(bindAddress, port), servers, ca, cert: admin.certificate, key: admin.key };
  return { access, file: kubeconfig, directory, clock };
}

/** Flags of one start, of which one is a secret. */
const NOT_KEPT = new Set(['--token', '--detach']);

/** The end of flags is none. */
const isWord = (word: string) => word !== '--';

/** Lets `qd list`, `qd down` and `qd reset` find the cluster, and what it has outside its directory. */
async function announce({ settings, inputs, directory, log }: StartContext): Promise<void> {
  const kubeconfigs = [publishedFile(settings.kubeconfig)];
  await writeLastStart(directory, {
    name: settings.name,
    version,
    pid: process.pid,
    kubeconfigs,
    nodes: inputs.nodes.names.length,
    args: givenArguments(process.argv.slice(3).filter(isWord), upFlags, NOT_KEPT),
  });
  await rememberElsewhere(clustersHome(), directory).catch((error) => {
    log.debug('qd list will not show this cluster', { error });
  });
}
