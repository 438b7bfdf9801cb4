import type { ObjectReply } from '../../../api/reply.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { forbiddenError } from '../../access/authz/forbidden-error.ts';
import type { Access } from '../../access/ports.ts';
import { readBody } from '../../objects/body/body.ts';
import { type MaybeAsync, toHub } from '../../objects/conversion/convert.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { replyOf } from './reply.ts';

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

/** Throws unless a client may use the verb on the object of its call, which its own permission does not include. */
export async function checkMay(
  verb: string,
  core: Pick<Access, 'authorizer'>,
  { resource: { kind, version }, call }: ApiRequest,
): Promise<void> {
  const { user, namespace = '', name = '' } = call;
  const { group, version: named } = version;
  const object = { group, version: named, resource: kind.plural, subresource: '', namespace, name };
  const asked = { user, verb, ...object };
  const { verdict, reason } = await core.authorizer.authorize(asked);
  if (verdict !== 'allow') throw forbiddenError(asked, reason);
}
