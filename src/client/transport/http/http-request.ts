/** Converts the client's requests to HTTP requests. */

import type { PatchType } from '../../../api/call.ts';
import type { Verb } from '../../../kinds/kind.ts';
import type { Request } from '../transport.ts';
import { pathOf } from './request-path.ts';

/** A request, or the path of a document to read. */
export type Sent = Request & { readonly path?: string; readonly accept?: string };

export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

const METHODS: Record<Verb, string> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};

const PATCH_MEDIA: Record<PatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

const JSON_MEDIA = 'application/json';

/** The media type for metadata; a server without metadata support sends whole objects. */
const metadataMedia = (kind: string) => `${JSON_MEDIA};as=${kind};g=meta.k8s.io;v=v1,${JSON_MEDIA}`;

const METADATA_OF_OBJECTS = metadataMedia('PartialObjectMetadata');
const METADATA_OF_LISTS = metadataMedia('PartialObjectMetadataList');

const DEFAULT_USER_AGENT = 'quarterdeck';

export function httpRequestOf(request: Sent, userAgent = DEFAULT_USER_AGENT): HttpRequest {
  const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  return {
    method: METHODS[request.verb],
    url: request.path ?? pathOf(request),
    headers: {
      accept: request.accept ?? acceptOf(request),
      'user-agent': userAgent,
      ...(body
        ? {
            'content-type': request.patchType ? PATCH_MEDIA[request.patchType] : JSON_MEDIA,
            'content-length': String(body.length),
          }
        : {}),
    },
    body,
  };
}

function acceptOf({ metadataOnly, verb }: Request): string {
  if (!metadataOnly) return JSON_MEDIA;
  return verb === 'list' ? METADATA_OF_LISTS : METADATA_OF_OBJECTS;
}
