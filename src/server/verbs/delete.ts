import type { StatusReply } from '../api.ts';
import type { Core } from '../core.ts';
import { deletePlan } from '../objects/delete-options.ts';
import { removeObject } from '../objects/removal.ts';
import { noteDeleteWarning } from '../objects/warnings.ts';
import type { ApiRequest } from '../operation.ts';

export async function remove(core: Core, request: ApiRequest): Promise<StatusReply> {
  const { resource, call, notes } = request;
  const { kind } = resource;
  const { namespace = '', name = '' } = call;
  const plan = deletePlan(call, core.registry);
  noteDeleteWarning(kind, plan, notes);
  const { metadata } = await removeObject(core, resource, { namespace, name, plan, request });
  return success({
    name,
    ...(kind.group ? { group: kind.group } : {}),
    kind: kind.plural,
    ...(metadata.uid ? { uid: metadata.uid } : {}),
  });
}

export function success(details: NonNullable<StatusReply['status']['details']>, message?: string): StatusReply {
  return {
    type: 'status',
    status: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      ...(message ? { message } : {}),
      details,
      code: 200,
    },
  };
}
