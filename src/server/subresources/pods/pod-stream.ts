import { badRequest, notFound } from '../../../base/errors.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { ApiRequest } from '../../api-request.ts';
import type { Core } from '../../core.ts';
import type { StreamAction } from '../../nodes/connection.ts';
import type { ParameterValues, QueryParameters } from '../parameters.ts';
import type { Subresource } from '../subresource.ts';
import { containerNamed } from './container-name.ts';

/** Not published until agents open streams; then with the other options of exec and attach. */
export const CONTAINER = {
  container: {
    type: 'string',
    description: 'Container to connect to. Optional if the pod has only one.',
    isPublished: false,
  },
} as const satisfies QueryParameters;

interface PodStream {
  /** The name under which clients know the options. */
  readonly optionsKind: string;
  readonly parameters: QueryParameters;
}

/**
 * A subresource that opens a stream to a pod. No agent offers streams yet: after the checks that come before, requests are
 * refused with the agent's reason.
 */
export function podStream<N extends StreamAction>(action: N, { optionsKind, parameters }: PodStream): Subresource<N> {
  const open = (core: Core, request: ApiRequest) => refuse(core, request, action);
  return {
    name: action,
    operations: { get: open, create: open },
    content: { type: 'connection', optionsKind: () => optionsKind },
    parameters,
  };
}

async function refuse(core: Core, { resource: { kind }, call }: ApiRequest, action: StreamAction): Promise<never> {
  const { namespace = '', name = '' } = call;
  await core.cache.fresh();
  const pod = core.cache.table(kind).get(namespace, name)?.hub(kind) as Pod | undefined;
  if (!pod) throw notFound(kind, name);
  const { container } = (call.parameters ?? {}) as ParameterValues<typeof CONTAINER>;
  if (action !== 'portforward') containerNamed(pod, container);
  const { nodeName } = pod.spec;
  if (!nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  throw badRequest(core.nodes.refusal(nodeName, action));
}
