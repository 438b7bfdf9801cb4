import type { Call } from '../../../api/call.ts';
import type { RequestNotes } from '../../../api/request-notes.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import type { Resource } from './registry.ts';
import type { ServedSubresource } from './served.ts';
import type { UpdatedPart } from './updated-part.ts';

/** A call on its way through the server: the resource that it names, and where its warnings and annotations go. */
export interface ApiRequest {
  readonly resource: Resource;
  /** Absent for requests to the object itself, and for those that the server makes for itself. */
  readonly subresource?: ServedSubresource | undefined;
  readonly call: Call;
  readonly notes: RequestNotes;
}

/** The part of the object that an update at the path of the request changes. */
export function updatedPart({ subresource }: ApiRequest): UpdatedPart {
  return subresource?.descriptor.updates ?? 'object';
}

/** The subresource of a call that has been dispatched: one that its kind does not declare has been rejected. */
export function declaredSubresource({ subresource }: Call): SubresourceName | undefined {
  return subresource as SubresourceName | undefined;
}
