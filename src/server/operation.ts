import type { Call, Reply } from './api.ts';
import type { Core } from './core.ts';
import type { Resource } from './registry.ts';
import type { RequestNotes } from './request-notes.ts';

/** A call on its way through the server: the resource that it names, and where its warnings and annotations go. */
export interface ApiRequest {
  readonly resource: Resource;
  readonly call: Call;
  readonly notes: RequestNotes;
}

/** What a verb or a subresource does with a request. */
export type Operation<R extends Reply = Reply> = (core: Core, request: ApiRequest) => Promise<R>;
