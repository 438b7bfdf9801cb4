import type { QueryParameters } from '../../../../api/parameters.ts';
import type { ConnectionReply } from '../../../../api/reply.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { ApiRequest } from '../../../objects/registry/api-request.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import type { Subresource } from '../subresource.ts';
import { forward } from './forward.ts';
import { targetOf } from './target.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'random'> & Outbound;

const PARAMETERS = {
  path: { type: 'string', description: 'Path of the request that is passed on, if none follows in the URL.' },
} as const satisfies QueryParameters;

/** Forwards a request to a pod, to a pod of a service, or to the agent of a node. */
export const proxy: Subresource<'proxy'> = {
  name: 'proxy',
  operations: { get: open, create: open, update: open, patch: open, delete: open },
  content: { type: 'connection', optionsKind: ({ kind }) => `${kind}ProxyOptions`, takesPath: true },
  parameters: PARAMETERS,
};

async function open(core: Ports, request: ApiRequest): Promise<ConnectionReply> {
  const target = await targetOf(core, request);
  const { path = '', parameters } = request.call;
  const queried = parameters?.path;
  const given = path === '' && typeof queried === 'string' ? queried : path;
  return { type: 'connection', serve: (client) => forward(client, target, given) };
}
