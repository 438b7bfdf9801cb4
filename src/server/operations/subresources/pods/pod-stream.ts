import { badRequest, notFound } from '../../../../api/errors.ts';
import type { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import type { Reader } from '../../../objects/ports.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import type { StreamAction } from '../../../outbound/nodes/connection.ts';
import type { Outbound } from '../../../outbound/ports.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Outbound, 'nodes'>;

/** Finds the pod of a stream. Throws a NotFound. */
export async function podFor(core: Ports, { resource: { kind }, call }: ApiRequest): Promise<Pod> {
  const { namespace = '', name = '' } = call;
  await core.cache.fresh();
  const pod = core.cache.table(kind).get(namespace, name)?.hub(kind) as Pod | undefined;
  if (!pod) throw notFound(kind, name);
  return pod;
}

/** Returns the node of a pod. Throws a BadRequest when it has none, or the node does not offer such streams. */
export function nodeFor(core: Ports, { metadata, spec }: Pod, action: StreamAction): string {
  const { nodeName } = spec;
  if (!nodeName) throw badRequest(`pod ${metadata.name} does not have a host assigned`);
  const why = core.nodes.rejection(nodeName, action);
  if (why !== undefined) throw badRequest(why);
  return nodeName;
}
