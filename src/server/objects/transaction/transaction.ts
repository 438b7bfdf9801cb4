/**
 * Writes one object. The stages of an attempt are, in this order:
 *
 * 1. lock: wait for commits of this process to the same key, and read the current object;
 * 2. draft: the mutation creates the next object, and parts that it may not change are restored;
 * 3. mutating admission, which fills in defaults again after plugins that may leave some out;
 * 4. finish: the kind's hooks, generation, allocation, validation, warnings;
 * 5. validating admission, after which a new object with a resourceVersion is rejected;
 * 6. commit, under the conditions of admission and together with the objects that it updates, unless the draft changes
 *    nothing or the request is a dry run.
 *
 * Between two stages, other work runs if the turn of the event loop has been long. Changes in the meantime are conflicts.
 *
 * When the store reports a conflict, the next attempt starts from the newest state. Admission is settled after every
 * attempt, whatever its outcome.
 */

import { RequestNotes } from '../../../api/call.ts';
import { ApiError } from '../../../api/errors.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { StoreConflict } from '../../../store/store.ts';
import type { AdditionalUpdate, Admission } from '../admission/request.ts';
import type { Entry } from '../cache/entry/entry.ts';
import type { ApiRequest } from '../registry/registry.ts';
import type { Mutation, ObjectDraft, Update } from './draft.ts';
import { checkNameTaken, checkUnversioned } from './mutations/create.ts';
import { draftUpdate, finishUpdate } from './mutations/update.ts';
import { callOf } from './own-writes.ts';
import type { TransactionPorts } from './ports.ts';
import { catchUp } from './retry.ts';
import { draftOf, finish, isDry, isUnchanged, keyOfTarget, subjectOf } from './stages.ts';

export interface TransactionResult {
  /** The stored object; undefined after a dry run, and when the object was removed. */
  readonly entry: Entry | undefined;
  /** The object that was stored or, in a dry run, would have been stored; after a delete, the object before it. */
  readonly object: KubeObject;
}

/**
 * Performs a mutation. `admitted` is the admission of a body that is not stored itself (admitted-body.ts): it replaces
 * the transaction's own admission, and the caller must retry conflicts about its conditions.
 */
export async function transact(
  core: TransactionPorts,
  request: ApiRequest,
  mutation: Mutation,
  admitted?: Admission,
): Promise<TransactionResult> {
  const { stages } = core;
  for (let attempt = 1; ; attempt++) {
    let pause = stages.pause();
    if (pause) await pause;
    const locked = mutation.type === 'create' ? undefined : lock(core, keyOfTarget(request, mutation), attempt);
    if (locked) await locked;
    const drafting = draftOf(core, request, mutation, stages);
    const draft = drafting instanceof Promise ? await drafting : drafting;
    const admission = admitted ? undefined : core.admission.open(request, subjectOf(draft));
    try {
      const admitting = admission?.admit();
      if (admitting) await admitting;
      if (admission?.object) draft.object = admission.object;
      pause = stages.pause();
      if (pause) await pause;
      const finishing = finish(core, draft);
      if (finishing) await finishing;
      const validating = admission?.validate();
      if (validating) await validating;
      checkUnversioned(draft);
      pause = stages.pause();
      if (pause) await pause;
      return withoutCommit(core, draft) ?? (await commit(core, draft, admitted ?? admission));
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      if (error.key === request.call.fence?.key) throw fenced(error);
      if (mutation.type === 'create') checkNameTaken(draft, error, attempt);
      if (admitted && error.key !== draft.at.key) throw error;
      await catchUp(core, request, error);
    } finally {
      admission?.settle();
    }
  }
}

/** Waits until the cache is as new as the store and no commit to the key is in progress. */
function lock({ cache, commits }: TransactionPorts, key: string, attempt: number): Promise<void> | undefined {
  // After a conflict, the cache has already seen the conflicting write.
  const fresh = attempt === 1 ? cache.fresh() : undefined;
  return fresh ? fresh.then(() => commits.idle(key)) : commits.idle(key);
}

/** Returns the outcome when there is nothing to commit; otherwise undefined. */
function withoutCommit({ cache }: TransactionPorts, draft: ObjectDraft): TransactionResult | undefined {
  const { mutation, at, current, object, old } = draft;
  if (isUnchanged(draft)) return { entry: current, object: old! };
  if (!isDry(draft)) return undefined;
  switch (mutation.type) {
    case 'create': {
      const existing = cache.entry(at.key);
      if (existing) throw new StoreConflict(at.key, existing.revision);
      return { entry: undefined, object };
    }
    case 'update':
      // kubectl diff compares it with the current object, from which only the requested change may differ.
      object.metadata.resourceVersion = old!.metadata.resourceVersion;
      return { entry: undefined, object };
    case 'delete':
      return { entry: undefined, object: old! };
  }
}

function fenced(cause: StoreConflict): ApiError {
  return new ApiError('Conflict', 'another server has taken over the lease of this component', { cause });
}

async function commit(
  core: TransactionPorts,
  draft: ObjectDraft,
  admission: Admission | undefined,
): Promise<TransactionResult> {
  const { mutation, request, shared, isQuiet, object, old } = draft;
  const drafts = admission?.also.length ? [draft, ...draftAdditionalUpdates(core, request, admission.also)] : [draft];
  const { fence } = request.call;
  const conditions = fence ? [...(admission?.conditions ?? []), fence] : admission?.conditions;
  const [entry] = await core.commits.commit(drafts, { conditions });
  if (mutation.type === 'create' && entry && !shared) core.specs.remember(request.resource.kind, entry, isQuiet);
  return { entry, object: mutation.type === 'delete' ? old! : object };
}

/** Drafts the objects that admission updates together with the written one. They are not admitted themselves. */
export function draftAdditionalUpdates(
  core: TransactionPorts,
  { call }: ApiRequest,
  updates: readonly AdditionalUpdate[],
): ObjectDraft[] {
  return updates.map(({ kind, current, part, object }) => {
    const { namespace, name } = current.at;
    const update: Update = { type: 'update', part, next: () => object };
    const own = { ...callOf(kind, namespace, { name, mutation: update }), user: call.user };
    const request = { resource: { kind, version: kind.hub }, call: own, notes: new RequestNotes() };
    const draft = draftUpdate(core, request, update, { current, object });
    finishUpdate(core, draft, update);
    return draft;
  });
}
