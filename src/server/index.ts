/** The API server: a function from a call to a reply, over a store. `assembly/` puts it, HTTP and authn together. */

import type { Handle, WriteFence } from '../api/call.ts';
import type { ServedTree } from '../api/served-action.ts';
import type { User } from '../api/user.ts';
import { TurnBudget } from '../base/event-loop/turn-budget.ts';
import { unmonitored, type WorkMonitor } from '../base/event-loop/watchdog.ts';
import { type Logger, silent } from '../base/log.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { type DialGuard, STRICT_GUARD } from '../base/sockets/dial/dial-guard.ts';
import type { Clock } from '../base/time/clock.ts';
import { CustomResourceDefinition as DEFINITIONS } from '../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Archive } from '../store/archive/archive.ts';
import type { Store } from '../store/store.ts';
import { type Authenticate, type Authentication, unauthenticated } from './access/authn/authenticator.ts';
import { type Find, findIn } from './access/authn/tokens/bound-objects.ts';
import type { TokenIssuer } from './access/authn/tokens/token-issuer.ts';
import type { Authorizer } from './access/authz/authorizer.ts';
import { type AuthorizationMode, createAuthorizer } from './access/authz/modes.ts';
import { NodeAuthorizer } from './access/authz/node/node-authorizer.ts';
import { Rbac } from './access/authz/rbac/rbac.ts';
import { type PostReview, Webhook } from './access/authz/webhook/webhook.ts';
import type { FlowControl } from './access/fairness/flow-control.ts';
import { Allocation } from './objects/allocation/allocation.ts';
import { parseIpRange, parsePortRange } from './objects/allocation/ranges.ts';
import { SpecInterner } from './objects/body/spec-interner.ts';
import { Cache } from './objects/cache/cache.ts';
import { DefinitionMarks } from './objects/cache/definitions/definition-marks.ts';
import { type Marks, ownImage } from './objects/cache/entry/own-image.ts';
import { JoinedArchive } from './objects/cache/history/joined-archive.ts';
import { Window } from './objects/cache/history/window.ts';
import { ListBodies } from './objects/reads/list-bodies.ts';
import { unknownContent } from './objects/reads/unknown-content.ts';
import { Watches } from './objects/reads/watches.ts';
import { Registry } from './objects/registry/registry.ts';
import { RevisionTimes } from './objects/revision-times.ts';
import { Commits } from './objects/transaction/commit.ts';
import { AdmissionChain } from './operations/admission/chain.ts';
import type { AdmissionPlugin } from './operations/admission/plugin.ts';
import { namespaceLifecycle } from './operations/admission/plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { priority } from './operations/admission/plugins/pods/priority.ts';
import { escalationCheck } from './operations/admission/plugins/rbac-escalation/escalation.ts';
import { paramRights } from './operations/admission/policies/param-rights.ts';
import { draftPorts } from './operations/draft-ports.ts';
import { handler } from './operations/handle.ts';
import { historyTree } from './operations/history/tree.ts';
import type { OperationPorts, Scheduling } from './operations/ports.ts';
import { allSubresources } from './operations/subresources/all.ts';
import type { Subresource } from './operations/subresources/subresource.ts';
import { agentAddress } from './outbound/nodes/agent-address.ts';
import type { AgentAddress } from './outbound/nodes/agent-connection.ts';
import { NO_CONNECTION, type NodeConnection } from './outbound/nodes/connection.ts';
import { Aggregation } from './serving/aggregation/aggregation.ts';
import type { FrontProxy } from './serving/aggregation/front-proxy.ts';
import { BackendRegistry } from './serving/backends/backend-registry.ts';
import { type DirectHandle, directCalls } from './serving/direct.ts';
import { type Forward, forwardedRequests } from './serving/forwarded-requests.ts';
import { serverChecks } from './serving/health/server-checks.ts';
import type { HealthCheck } from './serving/http/documents/health.ts';
import { bootstrap, keepBootstrapped, SYSTEM_NAMESPACES } from './upkeep/bootstrap.ts';
import { CustomKinds } from './upkeep/custom-kinds/custom-kinds.ts';
import { reconcilePolicy } from './upkeep/default-roles/reconcile.ts';
import {
  createFlowControl,
  type FlowControlSettings,
  keepFlowControl,
} from './upkeep/flow-control/create-flow-control.ts';
import { keepAddresses } from './upkeep/keep-addresses.ts';
import { type AcquiredLease, beginTerm } from './upkeep/leadership-term.ts';
import type { ServerAddress } from './upkeep/peers/endpoints.ts';
import type { PeerDescription } from './upkeep/peers/lease.ts';
import { type OtherServers, Peers } from './upkeep/peers/peers.ts';

export interface ServerOptions {
  readonly store: Store;
  /** Past states of the store; absent: those that are kept in memory for watches. */
  readonly archive?: Archive | undefined;
  readonly kinds: Iterable<Kind>;
  /** The implementations of subresources; default: all that the server has. */
  readonly subresources?: readonly Subresource[];
  readonly clock: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  readonly monitor?: WorkMonitor | undefined;
  /** Namespaces that are created at startup and restored; default: those of a cluster. */
  readonly namespaces?: readonly string[];
  /** A CIDR range, or two of different IP families, separated by a comma. */
  readonly serviceClusterIpRange?: string;
  readonly serviceNodePortRange?: string;
  /** History limits, which determine how far back watches and exact lists can start. */
  readonly historyMilliseconds?: number;
  readonly historyBytes?: number;
  /** The admission plugins in order; default: NamespaceLifecycle. */
  readonly admission?: readonly AdmissionPlugin[];
  /** The authorizers in order; default: everything is allowed. */
  readonly authorization?: readonly AuthorizationMode[];
  /** Sends access reviews, for the mode `Webhook`. */
  readonly postReview?: PostReview | undefined;
  /** True to create the default roles and bindings and reconcile them. */
  readonly defaultRoles?: boolean;
  /** Limits on concurrent requests; default: none. */
  readonly flowControl?: FlowControlSettings | undefined;
  /** Minimum duration of watches without `timeoutSeconds`, which run up to twice as long; default: 30 minutes. */
  readonly minWatchMs?: number | undefined;
  /** Delay after a change before watches that requested bookmarks get one; default: a minute. */
  readonly bookmarkDelayMs?: number | undefined;
  /** True when a garbage collector runs beside the server. */
  readonly garbageCollection?: boolean;
  /** Wraps the handler of all calls, including those from the network, for tests. */
  readonly intercept?: ((handle: Handle) => Handle) | undefined;
  /** True to freeze calls and returned objects, so that a test detects code that changes one. */
  readonly freeze?: boolean;
  /** Identifies this build, if no other program writes to the store at the same time. */
  readonly release?: string | undefined;
  /** The revision up to which this same build wrote everything in the store. */
  readonly ownUntil?: number | undefined;
  /** Authenticates requests and tokens, by objects that it finds in the cache; absent: no request and no token is valid. */
  readonly authentication?: ((find: Find) => Authentication) | undefined;
  /** Explains the scheduling of pods; absent: nothing does. */
  readonly explainPod?: Scheduling['explainPod'] | undefined;
  /** Reaches the agents of nodes, which listen where `addressOf` says; absent: none is reached. */
  readonly nodes?: ((addressOf: AddressOf) => NodeConnection) | undefined;
  /** Issues tokens of service accounts; absent: the subresource `token` is not served. */
  readonly tokenIssuer?: TokenIssuer | undefined;
  /** True when other API servers can be aggregated, and APIServices are kept for the groups that this server serves. */
  readonly aggregation?: boolean;
  /** How this server identifies itself to those that it passes requests on to; absent: not at all. */
  readonly frontProxy?: FrontProxy | undefined;
  /** Checks the addresses that objects lead to; default: loopback, link-local and the like are not dialled. */
  readonly dialGuard?: DialGuard | undefined;
  /** The address of this server for the endpoints of the service `kubernetes`. */
  readonly advertise?: ServerAddress;
  /** How this server presents itself to others on the same store, with whom it maintains the endpoints; absent: there are none. */
  readonly peer?: PeerDescription | undefined;
}

/** Where the agent of a node listens; undefined if its status does not say. */
export type AddressOf = (node: string) => AgentAddress | undefined;

export interface Server {
  /** Handles requests of the HTTP front end, which authorizes them before reading bodies. All else calls `direct`. */
  readonly handle: Handle;
  /** Performs calls within the process, as a user and with that user's rights; writes only while the fence holds. */
  readonly direct: (user: User, fence?: WriteFence) => DirectHandle;
  /** Begins the term of a leader in this process, whose writes are made under the fence. */
  readonly beginTerm: (lease: AcquiredLease) => Promise<WriteFence>;
  /** Forwards requests within the process to aggregated API servers, as a user and with that user's rights. */
  readonly forward: (user: User) => Forward;
  readonly registry: Registry;
  /** The backend of each group and version: the kinds of the registry, and any added ones. */
  readonly backends: BackendRegistry;
  readonly authorizer: Authorizer;
  /** Decides when a request from the network is served; undefined for no limits. */
  readonly flowControl: FlowControl | undefined;
  /** Looks an object up in the cache, synchronously and without authorization. */
  readonly find: Find;
  /** Describes objects in a namespace of kinds that this server does not serve. */
  readonly unknownContent: (namespace: string) => readonly string[];
  /** Returns the number of objects of a kind. */
  readonly count: (kind: Pick<Kind, 'group' | 'plural'>) => number;
  readonly authenticate: Authenticate;
  /** Renews how this server identifies itself to those that it passes requests on to. Resolves when they can read it. */
  renewFrontProxy(frontProxy: FrontProxy): Promise<void>;
  /**
   * Adds this server to the endpoints of the service `kubernetes`, where several servers maintain them together.
   * Resolves with a function that removes it. Only for a server that listens.
   */
  join(): Promise<() => Promise<void>>;
  /** The other servers on the same store; undefined when the store has no others. */
  readonly others: OtherServers | undefined;
  /** Checks of this server's health, for its health endpoints. */
  readonly checks: readonly HealthCheck[];
  /** Serves what is at `/history` besides past objects. */
  readonly history: ServedTree;
  /** Ends watches cleanly and stops using the store, which stays open. */
  close(): void;
}

/** Limit for the history in memory. Older history is read from the store, which has its own limit. */
const MAX_CACHED_HISTORY_BYTES = 32 * 1024 * 1024;

/** Time for which writes may block a turn, apart from the stage that exceeds it: enough for a hundred small writes. */
const MAX_STAGES_MS = 25;

const DEFAULT_MIN_WATCH_MS = 30 * 60_000;

export async function createServer(options: ServerOptions): Promise<Server> {
  const { store, clock, random = systemRandom, log = silent, monitor = unmonitored } = options;
  const { subresources = allSubresources, historyMilliseconds = 300_000 } = options;
  const registry = new Registry(options.kinds, subresources);
  const builtIn = new Set(registry.apiVersions);
  const cache = new Cache({
    store,
    clock,
    log,
    historyMilliseconds,
    historyBytes: Math.min(options.historyBytes ?? MAX_CACHED_HISTORY_BYTES, MAX_CACHED_HISTORY_BYTES),
    freeze: options.freeze ?? false,
    marks: await marksOf(options),
  });
  const addresses = (options.serviceClusterIpRange ?? '10.96.0.0/16').split(',').map(parseIpRange);
  const ports = parsePortRange(options.serviceNodePortRange ?? '30000-32767');
  await cache.start();
  const times = new RevisionTimes({ clock, revision: cache.revision, milliseconds: historyMilliseconds });
  cache.onTurn(() => times.note(cache.revision));
  const watches = new Watches({ cache, clock, registry, log, monitor, bookmarkDelayMs: options.bookmarkDelayMs });
  const find = findIn((kind) => cache.table(kind));
  const { authenticate, identify } = options.authentication?.(find) ?? unauthenticated;
  const rbac = new Rbac(cache);
  const stages = new TurnBudget(clock, MAX_STAGES_MS);
  const inMemory = new Window({ cache, times, clock });
  const plugins = [...(options.admission ?? [namespaceLifecycle]), escalationCheck, paramRights];
  const core: OperationPorts = {
    store,
    archive: options.archive ? new JoinedArchive(options.archive, inMemory) : inMemory,
    commits: new Commits(store, cache, stages),
    cache,
    registry,
    watches,
    allocation: new Allocation({ cache, random, addresses, ports }),
    admission: new AdmissionChain(plugins, () => core),
    drafts: () => draftPorts(core, { plugins, allocation: { random, addresses, ports } }),
    authorizer: createAuthorizer(options.authorization ?? ['AlwaysAllow'], {
      node: () => new NodeAuthorizer(cache),
      rbac: () => rbac,
      webhook: () => webhook(options),
    }),
    rbac,
    specs: new SpecInterner(),
    lists: new ListBodies(registry),
    turns: new TurnBudget(clock),
    stages,
    garbageCollection: options.garbageCollection ?? false,
    minWatchMs: options.minWatchMs ?? DEFAULT_MIN_WATCH_MS,
    identify,
    nodes: options.nodes?.((node) => agentAddress(cache, node)) ?? NO_CONNECTION,
    dialGuard: options.dialGuard ?? STRICT_GUARD,
    tokenIssuer: options.tokenIssuer,
    explainPod: options.explainPod ?? (() => undefined),
    clock,
    random,
    log,
  };
  const open = handler(core, subresources);
  const { intercept } = options;
  const intercepted = intercept ? intercept(open) : open;
  const handle = options.freeze ? freezing(intercepted) : intercepted;
  const customKinds = registry.resource(DEFINITIONS.hub.apiVersion, DEFINITIONS.plural)
    ? new CustomKinds(core, handle)
    : undefined;
  const backends = new BackendRegistry(registry);
  const aggregation =
    options.aggregation && Aggregation.isServed(core)
      ? new Aggregation({ core, handle, backends, builtIn })
      : undefined;
  const priorities = options.admission?.some(({ name }) => name === priority.name) ?? false;
  const { advertise, peer } = options;
  const peers =
    advertise && peer ? new Peers({ identity: { ...peer, advertise, uid: random.uuid() }, handle, core }) : undefined;
  const { namespaces = SYSTEM_NAMESPACES } = options;
  const first = {
    namespaces,
    serviceAddress: addresses[0]!.at(1),
    serviceRanges: addresses.map(({ cidr }) => cidr),
    advertise,
    hasPeers: peers !== undefined,
    priorities,
    now: () => new Date(clock.now()),
  };
  const [flowControl] = await Promise.all([
    options.flowControl && createFlowControl(core, options.flowControl),
    bootstrap(handle, first),
    options.defaultRoles ? reconcilePolicy(core) : undefined,
    aggregation?.start(),
  ]);
  if (options.frontProxy) await aggregation?.identifyAs(options.frontProxy);
  const upkeep = [
    keepBootstrapped(core, () => bootstrap(handle, first)),
    keepAddresses(core),
    ...(options.flowControl?.priorityAndFairness ? [keepFlowControl(core)] : []),
    ...[customKinds, aggregation].filter((part) => part !== undefined),
  ];
  return {
    handle,
    direct: directCalls({ handle, authorizer: core.authorizer, monitor }),
    beginTerm: (lease) => beginTerm(core, lease),
    forward: forwardedRequests({ backends, authorizer: core.authorizer, monitor }),
    registry,
    backends,
    authorizer: core.authorizer,
    flowControl,
    find,
    authenticate,
    unknownContent: (namespace) => unknownContent(core, namespace),
    count: (kind) => cache.table(kind).count(''),
    async renewFrontProxy(frontProxy) {
      await aggregation?.identifyAs(frontProxy);
    },
    checks: serverChecks({
      cache,
      customKinds,
      aggregation,
      namespaces,
      hasPriorities: priorities,
      serviceAddress: advertise && first.serviceAddress,
      hasDefaultRoles: options.defaultRoles === true,
      hasFairness: options.flowControl?.priorityAndFairness === true,
    }),
    history: historyTree(core, times),
    others: peers,
    async join() {
      await peers?.join();
      return async () => peers?.leave();
    },
    close() {
      peers?.stop();
      for (const part of upkeep) part.close();
      watches.close();
      cache.close();
    },
  };
}

async function marksOf({ store, kinds, release, ownUntil }: ServerOptions): Promise<Marks | undefined> {
  if (release !== undefined) return DefinitionMarks.load(store, release);
  return ownUntil === undefined ? undefined : ownImage(ownUntil, kinds);
}

/** Freezes calls, so that a test detects code that modifies one. Bodies may be modified by the server. */
const freezing =
  (handle: Handle): Handle =>
  (call, notes) =>
    handle(Object.freeze(call), notes);

function webhook({ postReview, clock, log = silent }: ServerOptions): Webhook {
  if (!postReview) throw new Error('the authorization mode Webhook needs postReview');
  return new Webhook({ post: postReview, clock, log });
}
