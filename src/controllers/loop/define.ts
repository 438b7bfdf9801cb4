/** What a controller is. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import type { Lister } from '../../client/informer/object-cache.ts';
import type { DeepReadonly, KindRef } from '../../client/object-types.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Action, Plan } from './plan.ts';

/** What is known of the kinds that a controller named. */
export interface Listers {
  of<T>(kind: KindRef<T>): Lister<T>;
}

/** The world as a plan sees it: it does not change while the plan is made. */
export interface Snapshot<Observed = undefined> extends Listers {
  /** The object that is planned for, which may be gone. */
  readonly key: { readonly namespace: string | undefined; readonly name: string };
  /** What `observe` found. */
  readonly observed: Observed;
  /** What went wrong when the last plan for this object was performed; empty when all went well. */
  readonly failures: readonly Failure[];
}

export interface Failure {
  /** Absent when it was not an action that failed. */
  readonly action?: Action;
  readonly error: Error;
}

export interface ControllerDefinition<T extends KubeObject, Observed> {
  readonly name: string;
  /** The service account in `kube-system` that it acts as, with the rights of the role `system:controller:ACCOUNT`. */
  readonly account: string;
  /** Who its events are from. Default: the name with `-controller`. */
  readonly component?: string;
  /** The kind whose objects are planned for, one at a time. Absent: `feed` says the keys, and they are no objects' names. */
  readonly watches?: KindRef<T>;
  /** Kinds whose objects name a controlling owner of the watched kind: a change is planned for with the owner. */
  readonly owns?: readonly KindRef[];
  /** Other kinds whose changes matter; see `related`. */
  readonly also?: readonly Related[];
  /** How many objects are worked on at once. Default: 10. */
  readonly workers?: number;
  /** Wakes keys by what the kinds above do not tell, until the signal is aborted. */
  feed?(tools: FeedTools): Feed;
  /** Gathers what the caches do not hold, before the plan. It changes nothing. */
  observe?(
    object: DeepReadonly<T> | undefined,
    world: Pick<Snapshot, 'key' | 'of'>,
    tools: { readonly client: Client; readonly signal: AbortSignal; readonly now: Date },
  ): Promise<Observed>;
  /** What would put the object in order, seen from one snapshot. Performs nothing. `undefined`: the object is gone. */
  plan(object: DeepReadonly<T> | undefined, world: Snapshot<Observed>, now: Date): Plan;
}

export interface FeedTools {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Asks for a plan for the key. */
  wake(key: string): void;
}

export interface Feed {
  /** Plans begin when this has resolved. */
  readonly ready: Promise<unknown>;
  /** Resolves after the signal, when nothing is under way any more. */
  readonly ended: Promise<unknown>;
}

/** A kind whose changes ask for plans for other objects. */
export interface Related {
  readonly kind: KindRef;
  /** `namespace/name`, or the name alone for a cluster-wide kind. */
  keysOf(object: any, listers: Listers): readonly string[];
  /** Whether an update changed nothing that matters. Default: everything matters. */
  ignores?(object: any, old: any): boolean;
}

export function related<T>(
  kind: KindRef<T>,
  keysOf: (object: DeepReadonly<T>, listers: Listers) => readonly string[],
  ignores?: (object: DeepReadonly<T>, old: DeepReadonly<T>) => boolean,
): Related {
  return { kind, keysOf, ...(ignores ? { ignores } : {}) };
}

/** A controller of any kind, as the loop sees it. */
export type Controller = ControllerDefinition<any, any>;

export function defineController<T extends KubeObject, Observed = undefined>(
  definition: ControllerDefinition<T, Observed>,
): Controller {
  return definition;
}
