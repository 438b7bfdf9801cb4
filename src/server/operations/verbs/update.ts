import type { ObjectReply } from '../../../api/reply.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { Access } from '../../access/ports.ts';
import { readBody } from '../../objects/body/body.ts';
import { toHub } from '../../objects/conversion/convert.ts';
import { type ApiRequest, updatedPart } from '../../objects/registry/registry.ts';
import { checkName } from '../../objects/transaction/mutations/update.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { checkMay, createObject } from './create.ts';
import { replyOf } from './reply.ts';

type Ports = TransactionPorts & Pick<Access, 'authorizer'>;

/** Replaces an object, or the part of it that the subresource of the request updates. */
export async function update(core: Ports, request: ApiRequest): Promise<ObjectReply> {
  const { resource, call } = request;
  const read = () => readBody(request, core.registry, () => currentObject(core, request));
  const sent = read();
  checkName(sent, call.name);
  // Only the first attempt may take ownership of the decoded body; later ones need it unchanged.
  let first: KubeObject | undefined = sent;
  const object = () => {
    const next = first ?? read();
    first = undefined;
    return toHub(resource, next);
  };
  if (await createsInstead(core, request)) {
    await checkMay('create', core, request);
    return createObject(core, request, object);
  }
  const part = updatedPart(request);
  return replyOf(resource, await transact(core, request, { type: 'update', part, next: object }));
}

/** Returns the object to replace, in the version of the request; undefined if that needs an asynchronous conversion. */
function currentObject(core: Ports, { resource, call }: ApiRequest): KubeObject | undefined {
  const entry = core.cache.table(resource.kind).get(call.namespace ?? '', call.name ?? '');
  return entry?.isReady(resource) ? entry.view(resource).object : undefined;
}

/** Reports whether a replace creates the object, which some kinds allow. */
async function createsInstead(core: Ports, { resource: { kind }, call }: ApiRequest): Promise<boolean> {
  if (!kind.createOnUpdate || call.subresource) return false;
  await core.cache.fresh();
  return !core.cache.table(kind).get(call.namespace ?? '', call.name ?? '');
}
