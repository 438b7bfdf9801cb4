/**
 * The part of a preview that the new release plays: it starts on a copy of a store that it gets on standard input, with no
 * nodes, in memory, unreachable from outside and dialling nobody, and reports what it has made of the copy.
 */
import { createWriteStream } from 'node:fs';
import { chmod, copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Cleanup } from '../../../../assembly/cleanup.ts';
import type { ClusterOptions } from '../../../../assembly/cluster/options.ts';
import { type StartedCluster, startCluster } from '../../../../assembly/cluster/start-cluster.ts';
import { encryptedWith, keyFileIn, readKeys } from '../../../../assembly/store/encryption.ts';
import { unmonitored } from '../../../../base/event-loop/watchdog.ts';
import { readIfThere } from '../../../../base/files/own/files.ts';
import { systemRandom } from '../../../../base/random.ts';
import { sleep, systemClock } from '../../../../base/time/clock.ts';
import { httpsTransport } from '../../../../client/transport/http/https-transport.ts';
import { allKinds } from '../../../../kinds/all.ts';
import { EventLoopMetrics } from '../../../../server/serving/metrics/event-loop.ts';
import { storeDriver } from '../../../../store/drivers.ts';
import type { Keyring } from '../../../../store/encryption/keyring.ts';
import { MemoryStore, type StoreImage } from '../../../../store/memory/memory-store.ts';
import type { Row, Store } from '../../../../store/store.ts';
import { explain } from '../../../output/cli-error.ts';
import { createLogger } from '../../../output/logger.ts';
import { createSteps } from '../../../output/steps.ts';
import { ownRelease } from '../../../process/version.ts';
import type { StartContext } from '../../context.ts';
import { rememberedIn } from '../../directory/directory.ts';
import type { Settings } from '../../flags.ts';
import { withOwnEtcd } from '../../ha/member-plan.ts';
import { readAgreed } from '../../settings/agreed-settings.ts';
import { settle } from '../../settings/settle.ts';
import { clusterOptions } from '../../start/cluster-options.ts';
import { readInputs } from '../../start/inputs.ts';
import { Moves } from '../../store/moving/moves.ts';
import { changesBetween } from './changes.ts';
import { findUnreadable, otherVersions, servedKinds } from './inspect.ts';
import { type CopyHeader, type CopyResult, NO_FINDINGS, RESULT_DESCRIPTOR, receiveCopy } from './messages.ts';
import type { RunOptions } from './run-release.ts';
import { parseStart, type StartFlags } from './start-flags.ts';

const HOST = '127.0.0.1';
const READY_TIMEOUT_MS = 30_000;
const MAX_CHANGES = 5_000;
const MAX_UNREADABLE = 100;

/** Admission plugins that would call other servers. */
const OUTSIDE = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'];

/** Writes the result, and ends the process: timers of the cluster would keep it. */
export async function startCopy(): Promise<void> {
  const { header, image } = await receiveCopy(process.stdin);
  const result = await resultOf(header, image);
  const target = createWriteStream('', { fd: RESULT_DESCRIPTOR });
  target.end(JSON.stringify(result), () => process.exit(0));
}

async function resultOf(header: CopyHeader, image: StoreImage): Promise<CopyResult> {
  const begin = performance.now();
  const { accepted, rejected } = parseStart(header.args);
  const base = { ...NO_FINDINGS, ...ownRelease, rejectedFlags: rejected };
  const cleanup = new Cleanup();
  try {
    const copy = await prepareCopy({ header, image, accepted, cleanup });
    const cluster = await startCluster(copy.options);
    cluster.open();
    return { ...base, ...(await watch({ ...copy, cluster, header, begin })) };
  } catch (error) {
    return { ...base, problem: explain(error) };
  } finally {
    await cleanup.run().catch(() => undefined); // The process ends.
  }
}

interface Copy {
  readonly options: ClusterOptions;
  /** The copy as it was, and as it is. */
  readonly before: Store;
  readonly after: Store;
  /** The keys that values in both are encrypted with. */
  readonly keyFile: string;
}

interface CopyRequest extends Pick<RunOptions, 'header' | 'image' | 'cleanup'> {
  readonly accepted: StartFlags['accepted'];
}

async function prepareCopy({ header, image, accepted, cleanup }: CopyRequest): Promise<Copy> {
  const { directory, scratch, port } = header;
  const log = createLogger('warn');
  const tools = { clock: systemClock, machineClock: systemClock, random: systemRandom, log };
  const original = new MemoryStore({ clock: systemClock, image });
  const store = new MemoryStore({ clock: systemClock, image, log });
  const settings = await settingsOf(directory, accepted, original);
  await copyKeys(join(directory, 'pki'), join(scratch, 'pki'));
  const keyFile = keyFileIn(scratch);
  await copyPrivate(settings.encryptionKeyFile ?? keyFileIn(directory), keyFile);
  const isolated = { ...settings, bindAddress: HOST, port, insecurePort: 0, nodes: 0, tlsSan: undefined };
  const chosen: Settings = { ...isolated, ...withoutOutside(settings), clock: 'system', restore: undefined };
  const inputs = await readInputs(chosen, { directory: scratch, path: process.env.PATH ?? '', clock: systemClock });
  const context: StartContext = {
    ...tools,
    settings: { ...chosen, ha: undefined, faults: undefined, auditLogPath: '', ingress: false, remoteUpgrades: false },
    inputs: { ...inputs, audit: { ...inputs.audit, webhook: undefined } },
    directory: scratch,
    cleanup,
    steps: createSteps({ write: () => undefined }, () => performance.now()),
    manual: undefined,
    monitor: unmonitored,
    eventLoops: new EventLoopMetrics(log),
    stopSignal: new AbortController().signal,
    path: process.env.PATH ?? '',
    onRotated: () => () => undefined,
    openPorts: [],
    moves: new Moves(log),
    lock: { isKept: false, lock: undefined },
    runningMember: undefined,
  };
  const options = clusterOptions(context, undefined);
  const { volumesDir } = settings;
  return {
    before: original,
    after: store,
    keyFile,
    options: {
      ...options,
      isIsolated: true,
      allowedDialRanges: [],
      store: {
        ...options.store,
        driver: { ...storeDriver('memory'), open: async () => store },
        keyFile,
      },
      rejected: () => undefined,
      users: { ...options.users, oidc: undefined },
      api: { ...options.api, ...localAuthorization(options.api.authorization), release: undefined },
      components: { ...options.components, volumesDirectory: volumesDir ?? join(directory, 'volumes') },
    },
  };
}

/** The settings that a start of the cluster would have. */
async function settingsOf(directory: string, given: StartFlags['accepted'], store: Store): Promise<Settings> {
  const remembered = await rememberedIn(directory);
  const flags = { ...given, dataDir: directory };
  return settle(withOwnEtcd(flags, remembered, directory), remembered, {
    otherClusters: async () => [],
    serviceRanges: async () => [],
    addresses: () => [],
    agreed: () => readAgreed(store, ownRelease),
  });
}

function withoutOutside({ enableAdmissionPlugins = [], disableAdmissionPlugins = [] }: Settings) {
  return {
    enableAdmissionPlugins: enableAdmissionPlugins.filter((name) => !OUTSIDE.includes(name)),
    disableAdmissionPlugins: [...disableAdmissionPlugins, ...OUTSIDE],
  };
}

/** A webhook is not asked; the components of the cluster have their rights from roles. */
function localAuthorization(modes: ClusterOptions['api']['authorization'] = []) {
  if (!modes.includes('Webhook')) return {};
  const others = modes.filter((mode) => mode !== 'Webhook');
  return { authorization: others.includes('RBAC') ? others : ([...others, 'RBAC'] as const), postReview: undefined };
}

async function copyKeys(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  const entries = await readdir(from, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isFile()) await copyPrivate(join(from, entry.name), join(to, entry.name));
}

/** The file may be missing. */
async function copyPrivate(from: string, to: string): Promise<void> {
  if ((await readIfThere(from)) === undefined) return;
  await copyFile(from, to);
  await chmod(to, 0o600);
}

interface Watched extends Copy {
  readonly cluster: StartedCluster;
  readonly header: CopyHeader;
  /** When the start began. */
  readonly begin: number;
}

/** Waits until the API is ready, reads everything, lets controllers run, and compares. */
async function watch({ cluster, header, begin, before, after, keyFile }: Watched) {
  const { authority: ca, admin } = cluster.keys();
  const server = `https://${HOST}:${header.port}`;
  const transport = httpsTransport({ server, ca, cert: admin.certificate, key: admin.key });
  try {
    await transport.ready(READY_TIMEOUT_MS);
    const secondsToReady = (performance.now() - begin) / 1_000;
    const keys = await readKeys(keyFile);
    const rowsOf = (store: Store) => decryptedRows(store, keys);
    const rows = await rowsOf(before);
    const served = await servedKinds(transport);
    const unreadable = await findUnreadable(transport, served, rows);
    await cluster.run({ keys: async () => undefined, servers: async () => undefined });
    await sleep(systemClock, header.milliseconds);
    const changes = changesBetween(rows, await rowsOf(after));
    return {
      secondsToReady,
      unreadable: unreadable.slice(0, MAX_UNREADABLE),
      unreadableCount: unreadable.length,
      otherVersions: otherVersions(rows, allKinds),
      apis: served.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
      changes: changes.slice(0, MAX_CHANGES),
      moreChanges: Math.max(changes.length - MAX_CHANGES, 0),
      notCalled: rows.flatMap(notCalledIn),
    };
  } finally {
    transport.close();
  }
}

async function decryptedRows(store: Store, keys: Keyring): Promise<readonly Row[]> {
  // Damaged values are named by the list of their kind.
  return (await encryptedWith(store, keys, systemRandom).list('', { damaged: () => undefined })).rows;
}

const OUTSIDE_KEYS =
  /^\/registry\/(?:admissionregistration\.k8s\.io\/((?:mutating|validating)webhookconfigurations)|apiregistration\.k8s\.io\/(apiservices))\/(.+)$/;

/** The names of webhooks and of API servers that other programs serve. */
function notCalledIn({ key, value }: Row): string[] {
  const [, webhooks, services, name = ''] = OUTSIDE_KEYS.exec(key) ?? [];
  if (webhooks !== undefined) return [`${webhooks}/${name}`];
  return services !== undefined && JSON.parse(value.toString()).spec?.service ? [`${services}/${name}`] : [];
}
