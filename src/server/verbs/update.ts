import { badRequest } from '../../base/errors.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { ObjectReply } from '../api.ts';
import { refusal } from '../authz/forbidden.ts';
import type { Core } from '../core.ts';
import { expectedBody, readBody } from '../objects/body.ts';
import { type Changed, change, partAt } from '../objects/change.ts';
import { toHub } from '../objects/hub.ts';
import { unstored } from '../objects/unstored.ts';
import type { ApiRequest } from '../operation.ts';
import type { Resource } from '../registry.ts';
import { create } from './create.ts';

/** Replaces an object, or with the subresource `status` its status. */
export async function update(core: Core, request: ApiRequest): Promise<ObjectReply> {
  const { resource, call } = request;
  const sent = readBody(expectedBody(resource), request, core.registry);
  if (!sent.metadata.name) {
    throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`);
  }
  if (sent.metadata.name !== call.name) {
    throw badRequest(
      `the name of the object (${sent.metadata.name}) does not match the name on the URL (${call.name})`,
    );
  }
  if (await createsInstead(core, request)) {
    await checkMayCreate(core, request);
    return create(core, { ...request, call: { ...call, body: sent } });
  }
  let first: KubeObject | undefined = sent;
  const changed = await change(core, request, {
    part: partAt(call.subresource),
    wanted: () => {
      // A second round needs the body again as it was sent; only the first may take it over.
      const object = first ?? readBody(expectedBody(resource), request, core.registry);
      first = undefined;
      return toHub(resource, object);
    },
  });
  return replyOf(resource, changed);
}

export function replyOf(resource: Resource, { entry, object }: Changed): ObjectReply {
  return { type: 'object', item: entry ? entry.view(resource) : unstored(resource, object) };
}

/** Some kinds may be put into place without a create. */
async function createsInstead(core: Core, { resource: { kind }, call }: ApiRequest): Promise<boolean> {
  if (!kind.createOnUpdate || call.subresource) return false;
  await core.cache.fresh();
  return !core.cache.table(kind).get(call.namespace ?? '', call.name ?? '');
}

/** Who may replace objects may not make them by that alone. */
async function checkMayCreate(core: Core, { resource: { kind, version }, call }: ApiRequest): Promise<void> {
  const { user, namespace = '', name = '' } = call;
  const { group, version: named } = version;
  const asked = {
    user,
    verb: 'create',
    group,
    version: named,
    resource: kind.plural,
    subresource: '',
    namespace,
    name,
  };
  const { verdict, reason } = await core.authorizer.authorize(asked);
  if (verdict !== 'allow') throw refusal(asked, reason);
}
