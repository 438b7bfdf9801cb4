/** Undoes a set of changes in one commit: everything that it plans is written, or nothing. */
import { RequestNotes } from '../../../../api/call.ts';
import { ApiError } from '../../../../api/errors.ts';
import { clientContent } from '../../../../api/undo/content.ts';
import type { UndoAnswer, UndoItem } from '../../../../api/undo/undo-set.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import { StoreConflict } from '../../../../store/store.ts';
import { forbiddenError } from '../../../access/authz/forbidden-error.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import { type DraftPorts, SeveralWrites } from '../../../objects/transaction/several.ts';
import type { OperationPorts } from '../../ports.ts';
import { mutationOf } from './mutations.ts';
import { planSet, type UndoStep } from './plan.ts';
import { readSet } from './read-set.ts';
import type { UndoCall } from './undo-call.ts';

/** Attempts when others write at the same time. */
const MAX_ATTEMPTS = 5;
/** The name under which the history shows writes of an undo. */
const MANAGER = 'qd-undo';

export async function undoSet(core: OperationPorts, call: UndoCall): Promise<UndoAnswer> {
  for (let attempt = 1; ; attempt++) {
    await core.cache.fresh();
    const { objects, unserved, hidden, users } = await readSet(core, call);
    const namespace = (name: string) => core.cache.table(Namespace).get('', name)?.hub(Namespace);
    const steps = planSet(objects, { force: call.force, namespace });
    try {
      await perform(core, call, steps);
      const items = steps.map((step) => itemOf(step, users.get(step.target.key) ?? []));
      return {
        kind: 'UndoPlan',
        apiVersion: 'v1',
        metadata: { resourceVersion: String(call.range.until) },
        dryRun: call.dryRun,
        items: [...unserved, ...items],
        hidden,
      };
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      if (attempt === MAX_ATTEMPTS) {
        throw new ApiError('Conflict', 'objects of the set change all the time; nothing was changed, try again', {
          cause: error,
        });
      }
      call.signal?.throwIfAborted();
    }
  }
}

/** Performs all steps, or none. In a dry run, everything but the commit. */
async function perform(core: OperationPorts, call: UndoCall, steps: readonly UndoStep[]): Promise<void> {
  const drafts = core.drafts();
  const writes = new SeveralWrites(drafts);
  for (const step of steps) {
    const write = await writeOf(core, drafts, { step, call });
    if (write) await writes.add(write);
    call.signal?.throwIfAborted();
    const pause = core.turns.pause();
    if (pause) await pause;
  }
  if (!call.dryRun) await writes.commit();
}

interface Write {
  readonly step: UndoStep;
  readonly call: UndoCall;
}

/** Returns the write of a step that the user may perform. Throws Forbidden. */
async function writeOf(core: OperationPorts, drafts: DraftPorts, { step, call }: Write) {
  const mutation = await mutationOf(drafts, step, call.dryRun);
  if (!mutation) return undefined;
  const request = requestOf(step, call);
  await checkRights(core, request);
  return { request, mutation };
}

function requestOf({ action, target }: UndoStep, call: UndoCall): ApiRequest {
  const { kind } = target;
  const { user, userAgent, requestId, signal, dryRun } = call;
  const { namespace, name = '' } = (target.now ?? target.before)!.metadata;
  const options = dryRun ? { fieldManager: MANAGER, dryRun: ['All'] } : { fieldManager: MANAGER };
  const verb = action as 'create' | 'update' | 'delete';
  const target_ = { apiVersion: kind.hub.apiVersion, plural: kind.plural, namespace, name };
  return {
    resource: { kind, version: kind.hub },
    call: { verb, ...target_, options, user, userAgent, requestId, signal },
    notes: new RequestNotes(),
  };
}

async function checkRights({ authorizer }: OperationPorts, { resource, call }: ApiRequest): Promise<void> {
  const { group, version } = resource.version;
  const { user, verb, plural, namespace = '', name = '' } = call;
  const asked = { user, verb, group, version, resource: plural, subresource: '', namespace, name };
  const { verdict, reason } = await authorizer.authorize(asked);
  if (verdict !== 'allow') throw forbiddenError(asked, reason);
}

function itemOf(step: UndoStep, users: readonly string[]): UndoItem {
  const { action, target } = step;
  const { kind } = target;
  const { namespace, name = '' } = (target.now ?? target.before)!.metadata;
  const item = {
    action,
    group: kind.group,
    version: kind.hub.version,
    resource: kind.plural,
    kind: kind.kind,
    namespace,
    name,
    users,
  };
  switch (step.action) {
    case 'update':
      return { ...item, now: clientContent(step.now), before: clientContent(step.before) };
    case 'leave':
    case 'conflict':
      return { ...item, reason: step.reason };
    case 'create':
    case 'delete':
      return item;
  }
}
