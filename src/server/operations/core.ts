import type { Call } from '../../api/call.ts';
import type { DialGuard } from '../../base/dial/dial-guard.ts';
import type { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import { timestamp } from '../../base/time/timestamp.ts';
import type { HookContext } from '../../kinds/kind.ts';
import type { Store } from '../../store/store.ts';
import type { Identify } from '../access/authn/authenticator.ts';
import type { TokenIssuer } from '../access/authn/token-issuer.ts';
import type { Authorizer } from '../access/authz/authorizer.ts';
import type { Rbac } from '../access/authz/rbac/rbac.ts';
import type { AdmissionControl } from '../objects/admission/request.ts';
import type { Allocation } from '../objects/allocation/allocation.ts';
import type { SpecInterner } from '../objects/body/spec-interner.ts';
import type { Cache } from '../objects/cache/cache.ts';
import type { ListBodies } from '../objects/reads/list-bodies.ts';
import type { Watches } from '../objects/reads/watches.ts';
import { declaredSubresource } from '../objects/registry/api-request.ts';
import type { Registry } from '../objects/registry/registry.ts';
import type { Commits } from '../objects/transaction/commit.ts';
import type { NodeConnection } from '../outbound/nodes/connection.ts';

/** The parts of a server that verbs, subresources and admission plugins work with. */
export interface Core {
  /** For reads of rows; objects are read from the cache and written through a transaction. */
  readonly store: Pick<Store, 'get' | 'revision'>;
  /** Writes drafts to the store; for transactions only. */
  readonly commits: Commits;
  readonly cache: Cache;
  readonly registry: Registry;
  readonly watches: Watches;
  readonly allocation: Allocation;
  readonly admission: AdmissionControl<Core>;
  /** Decides what users may do. */
  readonly authorizer: Authorizer;
  /** Evaluates roles and bindings, also where another authorizer decides. */
  readonly rbac: Rbac;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Whether a garbage collector handles the finalizers `orphan` and `foregroundDeletion`; without one they are not set. */
  readonly garbageCollection: boolean;
  /** How long a watch runs without `timeoutSeconds`: at least this long, and up to twice as long. */
  readonly minWatchMs: number;
  /** Authenticates a bearer token: its user and audiences. */
  readonly identify: Identify;
  /** Issues tokens of service accounts; undefined: the subresource `token` is not served. */
  readonly tokenIssuer: TokenIssuer | undefined;
  /** Explains the scheduling of a pod; undefined when the scheduler does not know the pod yet. */
  readonly explainPod: (namespace: string, name: string) => object | undefined;
  /** Reaches the agents of nodes. */
  readonly nodes: NodeConnection;
  /** Checks the addresses that objects lead to before they are dialled. */
  readonly dialGuard: DialGuard;
  /** Specs that recently created objects share. */
  readonly specs: SpecInterner;
  /** Encoded lists that were requested recently. */
  readonly lists: ListBodies;
  /** Divides the reading of long lists into turns of the event loop. */
  readonly turns: TurnBudget;
  /** Divides writes into turns of the event loop, between their stages: each may take long when the object is large. */
  readonly stages: Pick<TurnBudget, 'pause'>;
}

/** What a kind's hooks may know about the call they run in. */
export function hookContext(core: Core, call: Call): HookContext {
  const { apiVersion, user } = call;
  const subresource = declaredSubresource(call);
  return { now: timestamp(core.clock.now()), uuid: core.random.uuid, apiVersion, subresource, user };
}
