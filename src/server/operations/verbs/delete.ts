import type { StatusReply } from '../../../api/call.ts';
import { deletePlan } from '../../objects/body/delete-options.ts';
import { noteDeleteWarning } from '../../objects/body/warnings.ts';
import type { ApiRequest } from '../../objects/registry/api-request.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import type { Core } from '../core.ts';
import { removeUnreadable } from './remove-unreadable.ts';
import { success } from './reply.ts';

/** Deletes one object. */
export async function remove(core: Core, request: ApiRequest): Promise<StatusReply> {
  const { resource, call, notes } = request;
  const { kind } = resource;
  const plan = deletePlan(call, core.registry);
  noteDeleteWarning(kind, plan, notes);
  const about = { name: call.name ?? '', ...(kind.group ? { group: kind.group } : {}), kind: kind.plural };
  if (plan.ignoreReadError && (await removeUnreadable(core, request))) return success(about);
  const { metadata } = (await transact(core, request, { type: 'delete', plan })).object;
  return success({ ...about, ...(metadata.uid ? { uid: metadata.uid } : {}) });
}
