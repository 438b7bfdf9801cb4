/** exec, attach and port-forward. No node agent offers them yet: requests are checked, and then rejected. */
import { badRequest, notFound } from '../../base/errors.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import type { Core } from '../core.ts';
import type { StreamAction } from '../nodes/connection.ts';
import type { ApiRequest } from '../operation.ts';
import { containerNamed } from './pod-containers.ts';
import { named, type Subresource } from './subresource.ts';

const stream = (action: StreamAction): Subresource => {
  const open = (core: Core, request: ApiRequest) => refuse(core, request, action);
  return { name: action, of: named(action), verbs: { get: open, create: open } };
};

export const exec = stream('exec');
export const attach = stream('attach');
export const portForward = stream('portforward');

async function refuse(core: Core, { resource: { kind }, call }: ApiRequest, action: StreamAction): Promise<never> {
  const { namespace = '', name = '', options } = call;
  await core.cache.fresh();
  const pod = core.cache.table(kind).get(namespace, name)?.hub(kind) as Pod | undefined;
  if (!pod) throw notFound(kind, name);
  if (action !== 'portforward') containerNamed(pod, options?.container);
  const { nodeName } = pod.spec;
  if (!nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  throw badRequest(core.nodes.refusal(nodeName, action));
}
