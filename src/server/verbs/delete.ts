import type { Call, StatusReply } from '../api.ts';
import type { Core } from '../core.ts';
import { deletePlan } from '../objects/delete-options.ts';
import { noteDeletion } from '../objects/notices.ts';
import { removeObject } from '../objects/removal.ts';
import type { Resource } from '../registry.ts';

export async function remove(core: Core, resource: Resource, call: Call): Promise<StatusReply> {
  const { kind } = resource;
  const { namespace = '', name = '' } = call;
  const plan = deletePlan(call, core.registry);
  noteDeletion(kind, plan, call);
  const { metadata } = await removeObject(core, resource, { namespace, name, plan, call });
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
