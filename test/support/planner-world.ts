/** A world of objects for tests of planners: it performs plans at once and forgets nothing. */

import type { KindRef } from '../../src/api/object-types.ts';
import { deepFreeze } from '../../src/base/json/tree.ts';
import { keyOf, ObjectCache } from '../../src/client/informer/object-cache.ts';
import type { Listers } from '../../src/controllers/loop/define.ts';
import type { Action, Named, Plan } from '../../src/controllers/loop/plan.ts';
import { applyMergePatch } from '../../src/schema/patch/merge-patch.ts';

/** Deletion time of objects with finalizers. */
const DELETED = '2030-01-01T00:30:00Z';

export class PlannerWorld implements Listers {
  readonly #caches = new Map<KindRef, ObjectCache<any>>();
  #version = 0;

  readonly of = (kind: KindRef): ObjectCache<any> => {
    const cache = this.#caches.get(kind) ?? new ObjectCache();
    this.#caches.set(kind, cache);
    return cache;
  };

  put(kind: KindRef, object: any): any {
    const version = String(++this.#version);
    const { generateName, ...metadata } = object.metadata;
    const name = metadata.name ?? `${generateName}${version}`;
    const uid = metadata.uid ?? `uid-${version}`;
    const stored = deepFreeze({ ...object, metadata: { ...metadata, name, uid, resourceVersion: version } });
    exhaust(this.of(kind).put(stored));
    return stored;
  }

  /** Performs the actions; requests of a plan to the loop are ignored. */
  apply(plan: Plan): void {
    for (const action of plan) {
      switch (action.type) {
        case 'create': {
          const created = this.put(action.kind, action.object);
          if (action.followedBy) this.apply([action.followedBy(created)]);
          break;
        }
        case 'update':
        case 'updateStatus':
        case 'updateSubresource':
          this.#replace(action.kind, action.object);
          break;
        case 'delete':
          this.delete(action.kind, action.object);
          break;
        case 'deleteCollection':
          for (const object of this.of(action.kind).list(action.namespace)) {
            exhaust(this.of(action.kind).remove(keyOf(object)));
          }
          break;
        case 'patch':
          this.#patch(action);
          break;
        case 'event':
        case 'requeueAfter':
        case 'requeueOnChange':
          break;
      }
    }
  }

  /** Removes an object; one with finalizers is only marked. */
  delete(kind: KindRef, { metadata }: Named): void {
    const old = this.of(kind).get(metadata.name ?? '', metadata.namespace);
    if (!old?.metadata.finalizers?.length) exhaust(this.of(kind).remove(keyOf({ metadata })));
    else if (!old.metadata.deletionTimestamp) {
      this.put(kind, { ...old, metadata: { ...old.metadata, deletionTimestamp: DELETED } });
    }
  }

  /** Applies merge patches, and strategic ones as far as they change owners or finalizers of an object. */
  #patch({ kind, object, patch }: Extract<Action, { type: 'patch' }>): void {
    const { name = '', namespace } = object.metadata;
    const old = this.of(kind).get(name, namespace);
    if (!old) throw new Error('the plan came too late');
    if (patch.type === 'json') throw new Error('no planner under test makes JSON patches');
    const changes = patch.changes as any;
    const asked = changes.metadata?.uid;
    if (asked && asked !== old.metadata.uid) throw new Error('the plan was for another object');
    const merged = applyMergePatch(old, changes) as any;
    if (patch.type === 'strategic' && changes.metadata?.ownerReferences) {
      const references = owners(old.metadata.ownerReferences ?? [], changes.metadata.ownerReferences);
      merged.metadata.ownerReferences = references;
    }
    if (patch.type === 'strategic') merged.metadata = withFinalizers(old.metadata.finalizers ?? [], merged.metadata);
    const { deletionTimestamp, finalizers = [] } = merged.metadata;
    if (deletionTimestamp && finalizers.length === 0) exhaust(this.of(kind).remove(keyOf(merged)));
    else this.put(kind, merged);
  }

  #replace(kind: KindRef, object: any): void {
    const old = this.of(kind).get(object.metadata.name, object.metadata.namespace);
    if (old?.metadata.resourceVersion !== object.metadata.resourceVersion) throw new Error('the plan came too late');
    this.put(kind, object);
  }
}

/** A world that stores objects as the server does: with a status from the beginning. */
export class ServerWorld extends PlannerWorld {
  override put(kind: KindRef, object: any): any {
    return super.put(kind, { status: {}, ...object });
  }
}

export const typesIn = (plan: Plan) => plan.map(({ type }) => type);

/** The events of a plan, each as its reason and message. */
export const eventsIn = (plan: Plan) =>
  plan.flatMap((action) => (action.type === 'event' ? [`${action.reason}: ${action.message}`] : []));

/** The names of the objects that a plan deletes. */
export const deletedIn = (plan: Plan) =>
  plan.flatMap((action) => (action.type === 'delete' ? [action.object.metadata.name] : []));

/** The first status that a plan writes. */
export const statusIn = (plan: Plan): any =>
  plan.flatMap((action) => (action.type === 'updateStatus' ? [(action.object as any).status] : []))[0];

/** Reports whether the action changes an object. */
export const isChange = ({ type }: Action) => type !== 'requeueAfter' && type !== 'event';

function owners(present: readonly any[], changes: readonly any[]): unknown[] {
  const kept = present.filter(({ uid }) => !changes.some((change) => change.uid === uid));
  return [...kept, ...changes.filter((change) => change.$patch !== 'delete')];
}

const LOST_FINALIZERS = '$deleteFromPrimitiveList/finalizers';

function withFinalizers(present: readonly string[], { [LOST_FINALIZERS]: lost = [], ...metadata }: any): unknown {
  const all = new Set<string>([...present, ...(metadata.finalizers ?? [])]);
  return all.size === 0 ? metadata : { ...metadata, finalizers: [...all].filter((each) => !lost.includes(each)) };
}

function exhaust(changes: Iterable<unknown>): void {
  for (const _ of changes);
}

/** Plans and performs until nothing is planned any more; fails when that does not come soon. */
export async function settle(world: PlannerWorld, plan: () => Plan | Promise<Plan>): Promise<Plan[]> {
  const plans: Plan[] = [];
  for (let round = 0; round < 20; round++) {
    const next = await plan();
    if (next.length === 0) return plans;
    plans.push(next);
    world.apply(next);
  }
  throw new Error('the plans do not come to an end');
}
