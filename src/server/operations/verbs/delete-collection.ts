import { isApiError } from '../../../api/errors.ts';
import type { StatusReply } from '../../../api/reply.ts';
import { deletePlan } from '../../objects/body/delete-options.ts';
import { noteDeleteWarning } from '../../objects/body/warnings.ts';
import { listRange, pageOf } from '../../objects/reads/list-range.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import type { Delete } from '../../objects/transaction/draft.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { success } from './reply.ts';

const MAX_CONCURRENT_DELETES = 64;

/** Deletes every object that a list with the same options would return. */
export async function deleteCollection(core: TransactionPorts, request: ApiRequest): Promise<StatusReply> {
  const { resource, call, notes } = request;
  const { kind } = resource;
  const plan = deletePlan(call, core.registry);
  noteDeleteWarning(kind, plan, notes);
  const { entries } = await pageOf(core, request, await listRange(core, request));
  for (let at = 0; at < entries.length; at += MAX_CONCURRENT_DELETES) {
    const part = entries.slice(at, at + MAX_CONCURRENT_DELETES);
    await Promise.all(
      part.map((entry) => removeUnlessGone(core, request, { type: 'delete', name: entry.at.name, plan })),
    );
  }
  return success({ group: kind.group || undefined, kind: kind.plural });
}

async function removeUnlessGone(core: TransactionPorts, request: ApiRequest, mutation: Delete): Promise<void> {
  try {
    await transact(core, request, mutation);
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
