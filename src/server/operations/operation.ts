import type { Reply } from '../../api/call.ts';
import type { ApiRequest } from '../objects/registry/api-request.ts';
import type { Core } from './core.ts';

/** What a verb or a subresource does with a request. */
export type Operation<R extends Reply = Reply> = (core: Core, request: ApiRequest) => Promise<R>;
