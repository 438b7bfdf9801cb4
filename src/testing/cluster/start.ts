/** Starts a test cluster: the server, all controllers, the scheduler and simulated nodes. */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { Cleanup } from '../../assembly/cleanup.ts';
import { startSimulation } from '../../assembly/cluster-nodes/simulated-nodes.ts';
import { type AccountTokens, authentication } from '../../assembly/control-plane/authentication.ts';
import type { ClusterFacts, ControllerKeys } from '../../assembly/control-plane/components.ts';
import { DEFAULT_ISSUER } from '../../assembly/control-plane/service-account-tokens.ts';
import { startControlPlane } from '../../assembly/control-plane/start-control-plane.ts';
import { Activity } from '../../base/event-loop/activity.ts';
import { silent } from '../../base/log.ts';
import { SeededRandom, systemRandom } from '../../base/random.ts';
import { ControlledClock, systemClock } from '../../base/time/clock.ts';
import { signingAuthority } from '../../controllers/identity/certificates/signing.ts';
import { allKinds } from '../../kinds/all.ts';
import { readRules } from '../../node/simulated/rules/read-rules.ts';
import type { Rules } from '../../node/simulated/rules/rules.ts';
import { legacyTokenSigner } from '../../server/access/authn/tokens/legacy-token-signer.ts';
import { createTokenIssuer } from '../../server/access/authn/tokens/token-issuer.ts';
import type { Server, ServerOptions } from '../../server/index.ts';
import { admissionPlugins } from '../../server/operations/admission/all.ts';
import { FaultInjector } from '../../server/serving/faults/fault-injector.ts';
import { MemoryStore, type StoreImage } from '../../store/memory/memory-store.ts';
import type { ClusterOptions } from '../contract.ts';
import { type StoreGate, storeGate } from '../faults/store-gate.ts';
import { ADMIN } from '../objects/client.ts';
import { DEFAULT_START, type InitialState, initialImage } from './initial-image.ts';
import { type ClusterKeys, clusterKeys } from './keys.ts';
import { SIMULATION } from './simulation.ts';
import { ClusterSnapshot, type ClusterState, isTime, MAX_SEED } from './snapshot.ts';

const DAY_MS = 86_400_000;
const MAX_CERTIFICATE_MS = 365 * DAY_MS;

/** Watches are long, like leases: a component watches every kind, and starting again takes longer than what an hour shows. */
const MIN_WATCH_MS = 7 * DAY_MS;

/** So are the pauses between bookmarks: every watch would get one for each minute in which anything happens. */
const BOOKMARK_DELAY_MS = DAY_MS;

const SERVER_OPTIONS = {
  minWatchMs: MIN_WATCH_MS,
  bookmarkDelayMs: BOOKMARK_DELAY_MS,
  kinds: allKinds,
  authorization: ['Node', 'RBAC'],
  garbageCollection: true,
} as const satisfies Partial<ServerOptions>;

/** Facts that controllers know about every test cluster. */
const FACTS: ClusterFacts = { reservedNames: ['kubernetes.default.svc'], server: 'https://192.0.2.1:6443' };

const IMAGE_SEED = 1;

/** The state to start with; without an image, an empty store. */
type Beginning = Omit<ClusterState, 'image'> & {
  readonly image: StoreImage | undefined;
  /** True when another release may have saved it. */
  readonly isFromFile?: boolean;
  /** See `clusterKeys`. */
  readonly certificate?: string | undefined;
};

/** Parts of a test cluster. */
export interface Parts {
  readonly seed: number;
  readonly nodes: readonly string[];
  readonly simulation: object;
  readonly clock: ControlledClock;
  readonly random: SeededRandom;
  readonly keys: ClusterKeys;
  readonly store: MemoryStore;
  readonly gate: StoreGate;
  readonly server: Server;
  readonly activity: Activity;
  readonly faults: FaultInjector;
  stop(): Promise<void>;
}

/** `imageFile`: where the build has saved the initial image. */
export async function startParts(options: ClusterOptions, imageFile?: string): Promise<Parts> {
  return startFrom(await beginningOf(options, imageFile));
}

/** Creates the initial image of every cluster: the store of an idle cluster without nodes. */
export async function createInitialImage(now: number): Promise<InitialState> {
  const parts = await startFrom({
    seed: IMAGE_SEED,
    random: IMAGE_SEED,
    now,
    nodes: [],
    simulation: {},
    image: undefined,
  });
  const image = parts.store.image();
  await parts.stop();
  return { image, certificate: parts.keys.certificate };
}

async function startFrom(beginning: Beginning): Promise<Parts> {
  const { seed, nodes, simulation, image } = beginning;
  const ownImage = beginning.isFromFile ? undefined : image;
  const clock = new ControlledClock(beginning.now);
  const keys = clusterKeys(beginning.certificate);
  const random = new SeededRandom(beginning.random);
  const store = new MemoryStore({ clock, image, historyMilliseconds: Number.POSITIVE_INFINITY });
  const gate = storeGate(store);
  const activity = new Activity(systemClock);
  const faults = new FaultInjector({ clock, random, isExempt: ({ name }) => name === ADMIN.name });
  const cleanup = new Cleanup();
  cleanup.add(() => store.close());
  const plane = await startControlPlane({
    clock,
    random,
    log: silent,
    cleanup,
    api: {
      ...SERVER_OPTIONS,
      store: gate.store,
      admission: admissionPlugins(),
      // An image of this release has them.
      defaultRoles: ownImage === undefined,
      ownUntil: ownImage?.revision,
      authentication: await authentication({ clock, log: silent, accounts: accountsOf(keys), anonymous: true }),
      tokenIssuer: createTokenIssuer({
        key: keys.tokenKey,
        issuer: DEFAULT_ISSUER,
        audiences: [DEFAULT_ISSUER],
        random,
      }),
      intercept: (handle) => faults.intercept(activity.counted(handle)),
    },
    components: { keys: controllerKeys(keys, { clock, random }), facts: FACTS },
  });
  const { server, nodes: connections } = plane;
  plane.startComponents();
  const stop = () => cleanup.run();
  try {
    const simulated = { ...SIMULATION, names: nodes, rules: rulesOf(simulation) };
    await startSimulation({ server, nodes: connections, cleanup, clock, random, log: silent, ...simulated });
    await activity.idle();
  } catch (error) {
    await stop();
    throw error;
  }
  return { seed, nodes, simulation, clock, random, keys, store, gate, server, activity, faults, stop };
}

async function beginningOf(options: ClusterOptions, imageFile: string | undefined): Promise<Beginning> {
  const { from } = options;
  if (from === undefined) {
    const seed = seedOf(options.seed);
    const simulation = options.simulation ?? {};
    const now = timeOf(options.now);
    const initial = await initialImage(now, { create: createInitialImage, file: imageFile });
    return { seed, random: seed, now, nodes: nodeNames(options.nodes), simulation, ...initial };
  }
  if (typeof from === 'string') return { ...(await ClusterSnapshot.load(from)).state, isFromFile: true };
  if (from instanceof ClusterSnapshot) return from.state;
  throw new TypeError('`from` must be a snapshot of a test cluster, or the path of one that was saved');
}

function controllerKeys(keys: ClusterKeys, tools: Pick<Parts, 'clock' | 'random'>): ControllerKeys {
  const { certificate } = keys;
  return {
    authority: certificate,
    mintToken: legacyTokenSigner(keys.tokenKey),
    signCertificate: (request) => {
      const options = { certificate, key: keys.authorityKey(), maxLifetime: MAX_CERTIFICATE_MS, ...tools };
      return signingAuthority(options)(request);
    },
  };
}

/** The tokens of service accounts that are accepted. */
function accountsOf({ tokenKey }: ClusterKeys): AccountTokens {
  let keys: readonly KeyObject[] | undefined;
  return {
    issuers: [DEFAULT_ISSUER],
    audiences: [DEFAULT_ISSUER],
    get keys() {
      keys ??= [createPublicKey(tokenKey())];
      return keys;
    },
  };
}

/** Pods that are bound together are ready together: one step of the clock instead of one for each. */
const POD_RULES = readRules({ pods: [{ stages: { sandbox: '100ms', stop: '100ms' } }] }).pods;

function rulesOf(simulation: object): Rules {
  const { pods, nodes } = readRules(simulation);
  return { pods: [...pods, ...POD_RULES], nodes };
}

function seedOf(seed: number | string | undefined): number {
  if (seed === undefined) return systemRandom.int(MAX_SEED);
  if (typeof seed === 'number' && Number.isInteger(seed) && seed >= 0 && seed < MAX_SEED) return seed;
  return createHash('sha256').update(String(seed)).digest().readUInt32BE(0);
}

function timeOf(time: ClusterOptions['now'] = DEFAULT_START): number {
  const value = typeof time === 'number' ? time : new Date(time).getTime();
  if (!isTime(value)) throw new TypeError(`${time} is not a time from the year 1 to 9999`);
  return value;
}

function nodeNames(nodes: ClusterOptions['nodes'] = 1): readonly string[] {
  return typeof nodes === 'number' ? Array.from({ length: nodes }, (_, index) => `node-${index + 1}`) : nodes;
}
