import type { KubeObject } from '../../kinds/kind.ts';
import type { ObjectReply } from '../api.ts';
import { type MaybeAsync, toHub } from '../conversion/convert.ts';
import type { Core } from '../core.ts';
import { readBody } from '../objects/body.ts';
import type { ApiRequest } from '../operation.ts';
import { transact } from '../transaction/transaction.ts';
import { replyOf } from './reply.ts';

export function create(core: Core, request: ApiRequest): Promise<ObjectReply> {
  const { resource } = request;
  return createObject(core, request, () => toHub(resource, readBody(request, core.registry)));
}

/** Creates an object in the stored version, which `object` makes anew for every attempt. */
export async function createObject(
  core: Core,
  request: ApiRequest,
  object: () => MaybeAsync<KubeObject>,
): Promise<ObjectReply> {
  const outcome = await transact(core, request, { type: 'create', object });
  const reply = replyOf(request.resource, outcome);
  // Many an object is never asked for again: only its bytes are kept.
  outcome.entry?.retire();
  return reply;
}
