import type { StatusReply } from '../../../api/reply.ts';
import { StoreConflict } from '../../../store/store.ts';
import type { Access } from '../../access/ports.ts';
import { deletePlan } from '../../objects/body/delete-options.ts';
import { noteDeleteWarning } from '../../objects/body/warnings.ts';
import { keyOf } from '../../objects/cache/keys.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { catchUp } from '../../objects/transaction/retry.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { checkMay } from './create.ts';
import { success } from './reply.ts';

type Ports = TransactionPorts & Pick<Access, 'authorizer'>;

export async function remove(core: Ports, request: ApiRequest): Promise<StatusReply> {
  const { resource, call, notes } = request;
  const { kind } = resource;
  const plan = deletePlan(call, core.registry);
  noteDeleteWarning(kind, plan, notes);
  const about = { name: call.name ?? '', group: kind.group || undefined, kind: kind.plural };
  if (plan.ignoreReadError && (await removeUnreadable(core, request))) return success(about);
  const { metadata } = (await transact(core, request, { type: 'delete', plan })).object;
  return success({ ...about, uid: metadata.uid || undefined });
}

/** Kubernetes' verb for this delete, required in addition to `delete`. */
const VERB = 'unsafe-delete-ignore-read-errors';

/**
 * Removes an object that cannot be read. A transaction is impossible, since its finalizers, owners and preconditions
 * are unknown, and there is no object to admit. Returns false, and does nothing, when the object can be read or does
 * not exist.
 */
async function removeUnreadable(core: Ports, request: ApiRequest): Promise<boolean> {
  const { cache, commits } = core;
  const { resource, call } = request;
  const key = keyOf(resource.kind, call.namespace ?? '', call.name ?? '');
  await cache.fresh();
  for (;;) {
    await commits.idle(key);
    const entry = cache.entry(key);
    if (!entry?.failure(resource.kind)) return false;
    await checkMay(VERB, core, request);
    try {
      await commits.removeUnreadable(entry, request);
      return true;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      await catchUp(core, request, error);
    }
  }
}
