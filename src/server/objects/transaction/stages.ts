/** Implements each stage of a transaction for each kind of mutation. */
import { notFound } from '../../../api/errors.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { AdmissionSubject } from '../admission/request.ts';
import type { Entry } from '../cache/entry/entry.ts';
import { prepare } from '../cache/entry/prepare.ts';
import { keyOf } from '../cache/keys.ts';
import { type MaybeAsync, whenReady } from '../conversion/convert.ts';
import type { ApiRequest } from '../registry/registry.ts';
import { isDryRun } from './admitted-body.ts';
import type { Delete, Mutation, ObjectDraft, Update } from './draft.ts';
import { draftCreate, finishCreate } from './mutations/create.ts';
import { draftDelete, isDeletable, isUnchangedDelete } from './mutations/delete.ts';
import { draftUpdate, finishUpdate, isUnchangedUpdate } from './mutations/update.ts';
import type { TransactionPorts } from './ports.ts';

/** Creates the next object. Throws NotFound when there is none to change. `stages`: absent to avoid pauses. */
export function draftOf(
  core: TransactionPorts,
  request: ApiRequest,
  mutation: Mutation,
  stages?: TransactionPorts['stages'],
): MaybeAsync<ObjectDraft> {
  const whenRested = <T>(value: MaybeAsync<KubeObject>, next: (object: KubeObject) => T) =>
    whenReady(value, (object) => {
      const pause = stages?.pause();
      return pause ? pause.then(() => next(object)) : next(object);
    });
  if (mutation.type === 'create') {
    return whenRested(mutation.object(), (object) => draftCreate(core, request, mutation, object));
  }
  const current = currentOf(core, request, mutation);
  return whenReady(prepare([current], request.resource), () => {
    if (mutation.type === 'delete') return draftDelete(core, request, mutation, current);
    return whenRested(mutation.next(current), (object) => draftUpdate(core, request, mutation, { current, object }));
  });
}

function currentOf({ cache }: TransactionPorts, request: ApiRequest, mutation: Update | Delete): Entry {
  const entry = cache.entry(keyOfTarget(request, mutation));
  if (!entry) throw notFound(request.resource.kind, nameOfTarget(request, mutation));
  return entry;
}

export function keyOfTarget(request: ApiRequest, mutation: Update | Delete): string {
  const { resource, call } = request;
  return keyOf(resource.kind, call.namespace ?? '', nameOfTarget(request, mutation));
}

function nameOfTarget({ call }: ApiRequest, mutation: Update | Delete): string {
  return (mutation.type === 'delete' ? mutation.name : undefined) ?? call.name ?? '';
}

const OPERATIONS = { create: 'CREATE', update: 'UPDATE', delete: 'DELETE' } as const;

export function subjectOf(draft: ObjectDraft): AdmissionSubject {
  const { mutation, object, old, at, isNameGenerated } = draft;
  return {
    operation: OPERATIONS[mutation.type],
    name: isNameGenerated ? '' : at.name,
    object: mutation.type === 'delete' ? undefined : object,
    old,
    dryRun: isDry(draft),
  };
}

export function isDry({ mutation, request }: ObjectDraft): boolean {
  return mutation.type === 'delete' ? mutation.plan.dryRun : isDryRun(request.call);
}

/** Performs everything between mutating and validating admission. Throws Invalid. Returns undefined if synchronous. */
export function finish(core: TransactionPorts, draft: ObjectDraft): Promise<void> | undefined {
  const finishing = finishObject(core, draft);
  if (finishing) return finishing.then(() => finishRemoval(core, draft));
  finishRemoval(core, draft);
  return undefined;
}

function finishObject(core: TransactionPorts, draft: ObjectDraft): Promise<void> | undefined {
  const { mutation } = draft;
  switch (mutation.type) {
    case 'create':
      return finishCreate(core, draft);
    case 'update':
      return finishUpdate(core, draft, mutation);
    case 'delete':
      return undefined;
  }
}

/** Turns a change into a removal if nothing holds the object any more. */
function finishRemoval(core: TransactionPorts, draft: ObjectDraft): void {
  const { mutation, request, object, old } = draft;
  const { kind } = request.resource;
  if (mutation.type === 'create' || !isDeletable(kind, object)) return;
  draft.isRemoval = true;
  draft.allocated = core.allocation.onRemoval(kind, old!).rows;
  draft.addresses = [];
}

/** Reports whether a commit of the draft would leave the store unchanged. */
export function isUnchanged(draft: ObjectDraft): boolean {
  switch (draft.mutation.type) {
    case 'create':
      return false;
    case 'update':
      return isUnchangedUpdate(draft);
    case 'delete':
      return !draft.isRemoval && isUnchangedDelete(draft);
  }
}
