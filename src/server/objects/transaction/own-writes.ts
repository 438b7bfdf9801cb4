import { type Call, RequestNotes } from '../../../api/call.ts';
import { isApiError } from '../../../api/errors.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { StoreConflict, type Write } from '../../../store/store.ts';
import type { DeletePlan } from '../body/delete-options.ts';
import { SERVER_USER } from '../server-user.ts';
import type { Mutation, ObjectDraft } from './draft.ts';
import type { TransactionPorts } from './ports.ts';
import { draftOf, finish, isUnchanged } from './stages.ts';

/** Limit for the rows written in one commit. etcd accepts 128 operations. */
const MAX_ROWS = 100;

/** How the server deletes its own objects: at once, whatever has changed. */
export const OWN_DELETE: DeletePlan = {
  gracePeriodSeconds: undefined,
  propagation: 'Background',
  uid: undefined,
  resourceVersion: undefined,
  dryRun: false,
  ignoreReadError: false,
};

export interface OwnWrite {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly mutation: Mutation;
}

export interface OwnWrites {
  /** The reason for skipping admission; it is logged with objects that could not be written. */
  readonly withoutAdmission: string;
  /** Returns the differences between the desired and the cached state. Called until there are none. */
  readonly plan: () => readonly OwnWrite[];
  /** A row to write with the last objects. */
  readonly marker?: Write;
}

/**
 * Reconciles the server's own objects with their desired state, several in one commit. They are drafted, completed and
 * validated like those of clients, but not admitted: the server writes them before it serves clients. An object that
 * turns out to be invalid is left unchanged. Resolves when everything can be read.
 */
export async function writeOwn(core: TransactionPorts, { withoutAdmission, plan, marker }: OwnWrites): Promise<void> {
  for (;;) {
    const drafts = await draftsOf(core, plan(), withoutAdmission);
    if (drafts.length === 0) return;
    try {
      const parts = commitsOf(drafts);
      for (const part of parts) {
        await core.commits.commit(part, { marker: part === parts.at(-1) ? marker : undefined });
      }
    } catch (error) {
      // Another server does the same, or a client wrote: the next plan contains the remaining differences.
      if (!(error instanceof StoreConflict)) throw error;
      await core.cache.fresh();
    }
  }
}

function commitsOf(drafts: readonly ObjectDraft[]): ObjectDraft[][] {
  const parts: ObjectDraft[][] = [];
  let rows = MAX_ROWS;
  for (const draft of drafts) {
    const own = 1 + draft.allocated.length + draft.addresses.length;
    if (rows + own > MAX_ROWS) {
      parts.push([]);
      rows = 0;
    }
    parts.at(-1)!.push(draft);
    rows += own;
  }
  return parts;
}

/** Drafts one write for each object. A second of the same object waits for the next plan: commits accept one. */
async function draftsOf(core: TransactionPorts, writes: readonly OwnWrite[], reason: string): Promise<ObjectDraft[]> {
  const drafts = new Map<string, ObjectDraft>();
  for (const write of writes) {
    const draft = await draftOfOwn(core, write, reason);
    if (draft && !drafts.has(draft.at.key)) drafts.set(draft.at.key, draft);
  }
  return [...drafts.values()];
}

/** Drafts a write; undefined when there is nothing to write. */
async function draftOfOwn(
  core: TransactionPorts,
  { kind, namespace, name, mutation }: OwnWrite,
  reason: string,
): Promise<ObjectDraft | undefined> {
  const resource = { kind, version: kind.hub };
  try {
    const call = callOf(kind, namespace, { name, mutation });
    const draft = draftOf(core, { resource, call, notes: new RequestNotes() }, mutation);
    if (draft instanceof Promise) throw new Error(`kind ${kind.kind} is converted asynchronously`);
    const finishing = finish(core, draft);
    if (finishing) await finishing;
    return isUnchanged(draft) ? undefined : draft;
  } catch (error) {
    if (!isApiError(error)) throw error;
    core.log.warn('an object of the server could not be written', { kind: kind.kind, namespace, name, reason, error });
    return undefined;
  }
}

export function callOf(kind: Kind, namespace: string, { name, mutation }: Pick<OwnWrite, 'name' | 'mutation'>): Call {
  return {
    // Uses a patch, because an update would have to name a version.
    verb: mutation.type === 'update' ? 'patch' : mutation.type,
    apiVersion: kind.hub.apiVersion,
    plural: kind.plural,
    namespace: namespace || undefined,
    name,
    subresource: mutation.type === 'update' && mutation.part === 'status' ? 'status' : undefined,
    user: SERVER_USER,
  };
}
