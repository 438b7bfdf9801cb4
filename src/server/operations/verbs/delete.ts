import type { StatusReply } from '../../../api/reply.ts';
import type { Access } from '../../access/ports.ts';
import { deletePlan } from '../../objects/body/delete-options.ts';
import { noteDeleteWarning } from '../../objects/body/warnings.ts';
import type { ApiRequest } from '../../objects/registry/api-request.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { removeUnreadable } from './remove-unreadable.ts';
import { success } from './reply.ts';

type Ports = TransactionPorts & Pick<Access, 'authorizer'>;

/** Deletes one object. */
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
