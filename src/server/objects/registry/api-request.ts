import type { Call } from '../../../api/call.ts';
import type { RequestNotes } from '../../../api/request-notes.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import type { Resource } from './registry.ts';
import type { ServedSubresource } from './served.ts';
import type { UpdatedPart } from './updated-part.ts';

/** A call with the resource that it names, and the destination of its warnings and annotations. */
export interface ApiRequest {
  readonly resource: Resource;
  /** The subresource; undefined for requests to the object itself, and for requests by the server itself. */
  readonly subresource?: ServedSubresource | undefined;
  readonly call: Call;
  readonly notes: RequestNotes;
}

/** Returns the part of the object that an update at the path of the request changes. */
export function updatedPart({ subresource }: ApiRequest): UpdatedPart {
  return subresource?.descriptor.updates ?? 'object';
}

/** Returns the subresource of a dispatched call: one that its kind does not declare has been rejected before. */
export function declaredSubresource({ subresource }: Call): SubresourceName | undefined {
  return subresource as SubresourceName | undefined;
}
