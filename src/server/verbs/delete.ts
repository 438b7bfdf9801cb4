import type { StatusReply } from '../api.ts';
import type { ApiRequest } from '../api-request.ts';
import type { Core } from '../core.ts';
import { deletePlan } from '../objects/delete-options.ts';
import { noteDeleteWarning } from '../objects/warnings.ts';
import { transact } from '../transaction/transaction.ts';
import { success } from './reply.ts';

/** Deletes one object. */
export async function remove(core: Core, request: ApiRequest): Promise<StatusReply> {
  const { resource, call, notes } = request;
  const { kind } = resource;
  const plan = deletePlan(call, core.registry);
  noteDeleteWarning(kind, plan, notes);
  const { metadata } = (await transact(core, request, { type: 'delete', plan })).object;
  return success({
    name: call.name ?? '',
    ...(kind.group ? { group: kind.group } : {}),
    kind: kind.plural,
    ...(metadata.uid ? { uid: metadata.uid } : {}),
  });
}
