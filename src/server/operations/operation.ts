import type { Reply } from '../../api/reply.ts';
import type { ApiRequest } from '../objects/registry/api-request.ts';
import type { OperationPorts } from './ports.ts';

/** Implements a verb or a subresource. */
export type Operation<R extends Reply = Reply> = (core: OperationPorts, request: ApiRequest) => Promise<R>;
