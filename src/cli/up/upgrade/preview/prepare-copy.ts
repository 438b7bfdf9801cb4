/** Prepares the start of a cluster on a copy of its store. */
import { chmod, copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../../../../assembly/cleanup.ts';
import type { ClusterOptions } from '../../../../assembly/cluster/options.ts';
import { keyFileIn } from '../../../../assembly/store/encryption.ts';
import { unmonitored } from '../../../../base/event-loop/watchdog.ts';
import { readIfThere } from '../../../../base/files/own/files.ts';
import { systemRandom } from '../../../../base/random.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { EventLoopMetrics } from '../../../../server/serving/metrics/event-loop.ts';
import { storeDriver } from '../../../../store/drivers.ts';
import { MemoryStore, type StoreImage } from '../../../../store/memory/memory-store.ts';
import type { Store } from '../../../../store/store.ts';
import { createLogger } from '../../../output/logger.ts';
import { createSteps } from '../../../output/steps.ts';
import { ownRelease } from '../../../process/version.ts';
import type { StartContext } from '../../context.ts';
import { rememberedIn } from '../../directory/directory.ts';
import type { Settings } from '../../flags.ts';
import { withOwnEtcd } from '../../ha/member-plan.ts';
import { readAgreed } from '../../settings/agreed-settings.ts';
import type { GivenFlags } from '../../settings/settle.ts';
import { settle } from '../../settings/settle.ts';
import { clusterOptions } from '../../start/cluster-options.ts';
import { readInputs } from '../../start/inputs.ts';
import { Moves } from '../../store/moving/moves.ts';

/** Where a copy is served. */
export const COPY_HOST = '127.0.0.1';

/** Admission plugins that would call other servers. */
const OUTSIDE = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'];

/** Their keys may be elsewhere. */
const WITHOUT_BACKUPS = { backupTo: undefined, backupPassphraseFile: undefined, backupRecipient: undefined };

export interface Copy {
  readonly options: ClusterOptions;
  /** The copy as it was, and as it is. */
  readonly before: Store;
  readonly after: Store;
  /** The keys that values in both are encrypted with. */
  readonly keyFile: string;
}

export interface CopyRequest {
  /** The data directory of the cluster, which is only read. */
  readonly directory: string;
  /** A private directory for keys and certificates. */
  readonly scratch: string;
  /** A free port of loopback. */
  readonly port: number;
  readonly image: StoreImage;
  /** Flags of a start, besides the settings of the directory. */
  readonly accepted: GivenFlags;
  readonly cleanup: Cleanup;
}

/** Options of a cluster on a copy: with no nodes, in memory, unreachable from outside and dialling nobody. */
export async function prepareCopy(request: CopyRequest): Promise<Copy> {
  const { directory, scratch, port, image, accepted, cleanup } = request;
  const log = createLogger('warn');
  const tools = { clock: systemClock, machineClock: systemClock, random: systemRandom, log };
  const original = new MemoryStore({ clock: systemClock, image });
  const store = new MemoryStore({ clock: systemClock, image, log });
  const settings = await settingsOf(directory, accepted, original);
  await copyKeys(join(directory, 'pki'), join(scratch, 'pki'));
  const keyFile = keyFileIn(scratch);
  await copyPrivate(settings.encryptionKeyFile ?? keyFileIn(directory), keyFile);
  const isolated = { ...settings, bindAddress: COPY_HOST, port, insecurePort: 0, nodes: 0, tlsSan: undefined };
  const chosen: Settings = { ...isolated, ...withoutOutside(settings), clock: 'system', restore: undefined };
  const reading = { directory: scratch, path: process.env.PATH ?? '', clock: systemClock, log };
  const inputs = await readInputs({ ...chosen, ...WITHOUT_BACKUPS }, reading);
  const context: StartContext = {
    ...tools,
    settings: { ...chosen, ha: undefined, faults: undefined, auditLogPath: '', ingress: false, remoteUpgrades: false },
    inputs: { ...inputs, audit: { ...inputs.audit, webhook: undefined }, backups: undefined },
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
async function settingsOf(directory: string, given: GivenFlags, store: Store): Promise<Settings> {
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
