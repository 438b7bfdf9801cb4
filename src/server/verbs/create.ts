import type { KubeObject } from '../../kinds/kind.ts';
import type { ObjectReply } from '../api.ts';
import type { Core } from '../core.ts';
import { expectedBody, readBody } from '../objects/body.ts';
import { toHub } from '../objects/hub.ts';
import { unstored } from '../objects/unstored.ts';
import type { ApiRequest } from '../operation.ts';
import { transact } from '../transaction/transaction.ts';

export function create(core: Core, request: ApiRequest): Promise<ObjectReply> {
  const { resource } = request;
  return createObject(core, request, () => toHub(resource, readBody(expectedBody(resource), request, core.registry)));
}

/** Creates an object in the stored version, which `object` makes anew for every attempt. */
export async function createObject(core: Core, request: ApiRequest, object: () => KubeObject): Promise<ObjectReply> {
  const { resource } = request;
  const { entry, object: created } = await transact(core, request, { type: 'create', object });
  return { type: 'object', item: entry ? entry.viewOnce(resource) : unstored(resource, created) };
}
