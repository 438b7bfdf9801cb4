import type { ObjectReply } from '../../../api/reply.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { readBody } from '../../objects/body/body.ts';
import { type MaybeAsync, toHub } from '../../objects/conversion/convert.ts';
import type { ApiRequest } from '../../objects/registry/api-request.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { replyOf } from './reply.ts';

/** Creates the object in the body. */
export function create(core: TransactionPorts, request: ApiRequest): Promise<ObjectReply> {
  const { resource } = request;
  return createObject(core, request, () => toHub(resource, readBody(request, core.registry)));
}

/** Creates an object that is already in the stored version; see `Create`. */
export async function createObject(
  core: TransactionPorts,
  request: ApiRequest,
  object: () => MaybeAsync<KubeObject>,
): Promise<ObjectReply> {
  const outcome = await transact(core, request, { type: 'create', object });
  const reply = replyOf(request.resource, outcome);
  // Keeps only the bytes, because many objects are never read again. If the object is held elsewhere, keeping it is
  // free.
  if (!outcome.entry?.isHeld) outcome.entry?.retire();
  return reply;
}
