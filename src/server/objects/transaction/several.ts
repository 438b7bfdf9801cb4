/**
 * Writes several objects in one commit, or none. Each passes the stages of a transaction, and sees those before it as if
 * they were stored. Unlike in a transaction of one object, a conflict is reported to the caller, who has planned the writes.
 */
import { ApiError, alreadyExists, isApiError, qualified } from '../../../api/errors.ts';
import { addAll } from '../../../base/collections/add-all.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { Condition } from '../../../store/store.ts';
import type { Admission } from '../admission/request.ts';
import type { DraftedCache } from '../cache/drafted-cache.ts';
import { encodeChange } from '../cache/entry/encoding.ts';
import type { ApiRequest } from '../registry/registry.ts';
import type { Mutation, ObjectDraft } from './draft.ts';
import type { TransactionPorts } from './ports.ts';
import { draftOf, finish, isUnchanged, subjectOf } from './stages.ts';
import { draftAdditionalUpdates } from './transaction.ts';

/** The ports of drafts: their cache shows the drafts, and everything that reads it is made for it. */
export type DraftPorts = TransactionPorts & { readonly cache: DraftedCache };

export interface PlannedWrite {
  readonly request: ApiRequest;
  readonly mutation: Mutation;
}

export class SeveralWrites {
  readonly #core: DraftPorts;
  /** The drafts to commit, by key. */
  readonly #drafts = new Map<string, ObjectDraft>();
  readonly #conditions: Condition[] = [];

  constructor(core: DraftPorts) {
    this.#core = core;
  }

  /** Drafts and admits a write. Resolves with the object that will be stored. Rejects with an ApiError that names it. */
  async add(write: PlannedWrite): Promise<KubeObject> {
    try {
      return await this.#add(write);
    } catch (error) {
      throw about(write, error);
    }
  }

  /** Commits all drafts. Rejects with the errors of the store, including StoreConflict. */
  async commit(): Promise<void> {
    const drafts = [...this.#drafts.values()];
    if (drafts.length === 0) return;
    // Objects that are written have conditions of their own.
    const conditions = this.#conditions.filter(({ key }) => !this.#drafts.has(key));
    const distinct = new Map(conditions.map((each) => [each.key, each]));
    await this.#core.commits.commit(drafts, { conditions: [...distinct.values()] });
  }

  async #add({ request, mutation }: PlannedWrite): Promise<KubeObject> {
    const core = this.#core;
    const draft = await draftOf(core, request, mutation, core.stages);
    if (mutation.type === 'create' && core.cache.entry(draft.at.key)) {
      throw alreadyExists(request.resource.kind, draft.at.name);
    }
    const admission = core.admission.open(request, subjectOf(draft));
    try {
      await this.#complete(draft, admission);
    } finally {
      // The next write may need what a plugin holds until the end; it sees the draft.
      admission?.settle();
    }
    return draft.object;
  }

  async #complete(draft: ObjectDraft, admission: Admission | undefined): Promise<void> {
    const core = this.#core;
    await admission?.admit();
    if (admission?.object) draft.object = admission.object;
    await core.stages.pause();
    await finish(core, draft);
    await admission?.validate();
    if (isUnchanged(draft)) return;
    this.#take(draft);
    for (const address of draft.addresses) this.#show(address);
    if (!admission) return;
    addAll(this.#conditions, admission.conditions);
    for (const each of draftAdditionalUpdates(core, draft.request, admission.also)) this.#take(each);
  }

  /** Adds a draft. A second one of the same object replaces its content, on the condition of the first. */
  #take(draft: ObjectDraft): void {
    const { key } = draft.at;
    const known = this.#drafts.get(key);
    if (known) {
      known.object = draft.object;
      known.shared = undefined;
      known.isRemoval = draft.isRemoval;
    } else this.#drafts.set(key, draft);
    for (const { key: row, value } of draft.allocated) this.#showRow(row, value);
    if (draft.isRemoval) this.#core.cache.remove(key);
    else this.#show(draft);
  }

  #show({ at, current, object, request }: ObjectDraft): void {
    const { cache } = this.#core;
    const { kind } = request.resource;
    // As bytes: readers of an entry complete its object, which must be stored as it is.
    const { bytes } = encodeChange(object, undefined, kind.rawFields);
    cache.put(cache.entryOf(at, current?.revision ?? 0, bytes));
  }

  #showRow(key: string, value: Buffer | null): void {
    const { cache } = this.#core;
    const name = key.slice(key.lastIndexOf('/') + 1);
    if (value) cache.put(cache.entryOf({ key, namespace: '', name }, 0, value));
    else cache.remove(key);
  }
}

/** Adds the object to an error. */
function about({ request: { resource, call }, mutation }: PlannedWrite, error: unknown): unknown {
  if (!isApiError(error)) return error;
  const { group, plural } = resource.kind;
  const where = call.namespace ? ` in namespace ${call.namespace}` : '';
  const what = `${mutation.type} ${qualified(group, plural)} "${call.name}"${where}`;
  const { details = {} } = error;
  return new ApiError(error.reason, `${what}: ${error.message}`, { cause: error, details });
}
