import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { timestamp } from '../base/timestamp.ts';
import type { HookContext } from '../kinds/kind.ts';
import type { Store } from '../store/store.ts';
import type { AdmissionChain } from './admission/chain.ts';
import type { Allocation } from './allocation/allocation.ts';
import type { Call } from './api.ts';
import type { Identify } from './authn/authenticator.ts';
import type { TokenIssuer } from './authn/token-issuer.ts';
import type { Authorizer } from './authz/authorizer.ts';
import type { Rbac } from './authz/rbac/rbac.ts';
import type { Cache } from './cache/cache.ts';
import type { ListBodies } from './lists/bodies.ts';
import type { NodeConnection } from './nodes/connection.ts';
import type { SpecInterner } from './objects/spec-interner.ts';
import type { Registry } from './registry.ts';
import type { ExplainPod } from './subresources/explain.ts';
import type { Commits } from './transaction/commit.ts';
import type { Watches } from './watches/watches.ts';

/** What the verbs work with. */
export interface Core {
  /** For reads of rows; objects are read from the cache and written through a transaction. */
  readonly store: Pick<Store, 'get' | 'revision'>;
  readonly commits: Commits;
  readonly cache: Cache;
  readonly registry: Registry;
  readonly watches: Watches;
  readonly allocation: Allocation;
  readonly admission: AdmissionChain;
  /** Who may do what. Asked by the HTTP front end and by reviews; calls inside the process are trusted. */
  readonly authorizer: Authorizer;
  /** What roles say, whoever decides. */
  readonly rbac: Rbac;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Whether a collector works off the finalizers `orphan` and `foregroundDeletion`; without one they are not set. */
  readonly garbageCollection: boolean;
  /** Whose a bearer token is, and for whom. */
  readonly identify: Identify;
  /** Makes tokens of service accounts; absent: nobody does. */
  readonly tokenIssuer: TokenIssuer | undefined;
  /** Why a pod is where it is, or nowhere. */
  readonly explainPod: ExplainPod;
  /** The way to the agents of nodes. */
  readonly nodes: NodeConnection;
  /** Specs that recently created objects share. */
  readonly specs: SpecInterner;
  /** Lists that were asked for lately. */
  readonly lists: ListBodies;
}

/** What a kind's hooks learn of the call they run in. */
export function hookContext(core: Core, { apiVersion, subresource, user }: Call): HookContext {
  return { now: timestamp(core.clock.now()), uuid: core.random.uuid, apiVersion, subresource, user };
}
