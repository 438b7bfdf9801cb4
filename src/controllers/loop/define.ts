/** The definition of a controller. */

import type { DeepReadonly, KindRef } from '../../api/object-types.ts';
import type { DividedWork, Pace } from '../../base/event-loop/in-turns.ts';
import type { Client, ClientTools } from '../../client/client.ts';
import type { InformerSelection } from '../../client/informer/informer-factory.ts';
import type { Lister } from '../../client/informer/object-cache.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Action, Plan } from './plan.ts';

/** Listers of the kinds that a controller names. */
export interface Listers {
  of<T>(kind: KindRef<T>): Lister<T>;
}

/** The state that a plan is made from: it does not change meanwhile. */
export interface Snapshot<Observed = undefined> extends Listers {
  /** The object to plan for, which may be gone. */
  readonly key: { readonly namespace: string | undefined; readonly name: string };
  readonly observed: Observed;
  /** Errors of the last plan for this object; empty when it succeeded. */
  readonly failures: readonly Failure[];
  /** Pacing for a plan that is divided into steps. */
  readonly pace: Pace;
}

export interface Failure {
  /** Failed action; absent for other failures. */
  readonly action?: Action;
  readonly error: Error;
}

export interface ControllerDefinition<T extends KubeObject, Observed> {
  readonly name: string;
  /** The service account in `kube-system` that it acts as, with the rights of the role `system:controller:ACCOUNT`. */
  readonly account: string;
  /** The component of its events. Default: the name with `-controller`. */
  readonly component?: string;
  /** The kind whose objects are planned for. Absent: keys come from `feed` or `also`, and need not be names. */
  readonly watches?: KindRef<T>;
  /** Kinds whose controlling owner is of the watched kind: a change wakes the owner. */
  readonly owns?: readonly KindRef[];
  /** Owned kinds whose new objects do not wake the owner, usually because the owner created them itself. */
  readonly ignoresNew?: readonly KindRef[];
  /** Reports whether an update of an owned object is irrelevant to every plan for its owner. Default: none is. */
  ignoresUpdate?(object: any, old: any): boolean;
  /** Other kinds whose changes matter; see `related`. */
  readonly also?: readonly Related[];
  /** Number of keys processed concurrently. Default: 10. */
  readonly workers?: number;
  /** Wakes keys by other means than the kinds above, until the signal is aborted. */
  feed?(tools: FeedTools): Feed;
  /** Reads data that the caches do not hold, before the plan. Changes nothing. */
  observe?(
    object: DeepReadonly<T> | undefined,
    world: Pick<Snapshot, 'key' | 'of' | 'failures'>,
    tools: ReadTools & { readonly now: Date },
  ): Promise<Observed>;
  /**
   * Returns the actions that would bring the object to its desired state. Performs nothing. `undefined`: the object is gone.
   * A plan that looks at very many objects may be divided into turns of the event loop, by `world.pace`; listers then change
   * meanwhile.
   */
  plan(object: DeepReadonly<T> | undefined, world: Snapshot<Observed>, now: Date): Plan | DividedWork<Plan>;
}

/** For reading what the caches do not hold. */
export interface ReadTools {
  readonly client: Client;
  readonly signal: AbortSignal;
}

export interface FeedTools extends ClientTools {
  /** Requests a plan for the key. */
  wake(key: string): void;
  readonly signal: AbortSignal;
}

export interface Feed {
  /** Plans start when this has resolved. */
  readonly ready: Promise<unknown>;
  /** Resolves after the signal, when nothing is in progress. */
  readonly ended: Promise<unknown>;
}

/** A kind whose changes wake other objects. */
export interface Related {
  readonly kind: KindRef;
  /** Follows only these objects of the kind: no others are known to the controller. Default: all. */
  readonly selection?: InformerSelection;
  /** `namespace/name`, or the name for a cluster-scoped kind. */
  keysOf(object: any, listers: Listers): readonly string[];
  /** Reports whether an update is irrelevant. Default: none is. */
  ignores?(object: any, old: any): boolean;
  /** True when new objects wake no key. */
  readonly ignoresNew?: boolean;
}

export function related<T>(
  kind: KindRef<T>,
  keysOf: (object: DeepReadonly<T>, listers: Listers) => readonly string[],
  ignores?: (object: DeepReadonly<T>, old: DeepReadonly<T>) => boolean,
): Related {
  return { kind, keysOf, ignores };
}

/** A controller of any kind, as the loop sees it. */
export type Controller = ControllerDefinition<any, any>;

export function defineController<T extends KubeObject, Observed = undefined>(
  definition: ControllerDefinition<T, Observed>,
): Controller {
  return definition;
}
