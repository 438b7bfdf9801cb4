import type { Reply } from './api.ts';
import type { ApiRequest } from './api-request.ts';
import type { Core } from './core.ts';

/** What a verb or a subresource does with a request. */
export type Operation<R extends Reply = Reply> = (core: Core, request: ApiRequest) => Promise<R>;
