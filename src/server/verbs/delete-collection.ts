import { isApiError } from '../../base/errors.ts';
import type { StatusReply } from '../api.ts';
import type { Core } from '../core.ts';
import { deletePlan } from '../objects/delete-options.ts';
import { removeObject } from '../objects/removal.ts';
import { noteDeleteWarning } from '../objects/warnings.ts';
import type { ApiRequest } from '../operation.ts';
import { selectionOf } from '../selection.ts';
import { success } from './delete.ts';

/** How many objects are deleted at once. */
const TOGETHER = 64;

/** Deletes every object that a list with the same selectors would show. */
export async function deleteCollection(core: Core, request: ApiRequest): Promise<StatusReply> {
  const { resource, call, notes } = request;
  const { kind } = resource;
  const plan = deletePlan(call, core.registry);
  noteDeleteWarning(kind, plan, notes);
  const selection = selectionOf(resource, call);
  await core.cache.fresh();
  const entries = core.cache
    .table(kind)
    .entries(call.namespace ?? '')
    .filter(selection.matches);
  for (let at = 0; at < entries.length; at += TOGETHER) {
    const part = entries.slice(at, at + TOGETHER).map(async ({ at: { namespace, name } }) => {
      try {
        await removeObject(core, resource, { namespace, name, plan, request });
      } catch (error) {
        // Somebody else was faster.
        if (!isApiError(error, 'NotFound')) throw error;
      }
    });
    await Promise.all(part);
  }
  return success({ ...(kind.group ? { group: kind.group } : {}), kind: kind.plural });
}
