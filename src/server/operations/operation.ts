import type { Reply } from '../../api/reply.ts';
import type { ApiRequest } from '../objects/registry/api-request.ts';
import type { OperationPorts } from './ports.ts';

/** What a verb or a subresource does with a request. */
export type Operation<R extends Reply = Reply> = (core: OperationPorts, request: ApiRequest) => Promise<R>;
