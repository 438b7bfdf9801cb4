/**
 * The contract of a subresource: everything the server knows about it. Dispatch, routing, discovery, the published schemas,
 * the decoding of bodies and what a write may change derive from its descriptor.
 */
import type { QueryParameters } from '../../../api/parameters.ts';
import type { Kind, Verb, Version } from '../../../kinds/kind.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';

/** The descriptor of a subresource. `Op` performs a verb, and is opaque to everything but the dispatcher. */
export interface SubresourceDescriptor<Op = unknown, Name extends SubresourceName = SubresourceName> {
  readonly name: Name;
  /** Performs each verb of the subresource. A request needs the permission for that verb on `<plural>/<name>`. */
  readonly operations: Readonly<Partial<Record<Verb, Op>>>;
  readonly content: SubresourceContent;
  /** The part of the object that writes change; absent when they change none. */
  readonly updates?: UpdatedPart;
  /** Query parameters in addition to those of every request. */
  readonly parameters?: QueryParameters;
}

/** The content that clients send to a subresource, and that it returns. */
type SubresourceContent =
  /** The object itself. In a body, only the part counts that the subresource updates. */
  | { readonly type: 'object' }
  /** An object of another kind, such as a Scale. */
  | { readonly type: 'body'; of(kind: Kind, version: Version): BodyType }
  /** Plain text, regardless of the Accept header. */
  | { readonly type: 'text' }
  /** Streams in both directions. The body of the request is not decoded; options are query parameters. */
  | {
      readonly type: 'connection';
      /** Returns the kind of the options: `PodExecOptions`. */
      optionsKind(kind: Kind): string;
      /** True when a path may follow the name of the subresource, as in `proxy/healthz`. */
      readonly takesPath?: boolean;
    };

export interface BodyType {
  readonly kind: string;
  readonly apiVersion: string;
  /** The schema; when absent, bodies are not decoded, and no schema is published. */
  readonly schema?: ObjectSchema;
}

/** Returns the body type of the objects of a kind, in its stored version. */
export function bodyTypeOf({ kind, hub }: Kind): BodyType & { readonly schema: ObjectSchema } {
  return { kind, apiVersion: hub.apiVersion, schema: hub.schema };
}

/** The part that an update may change: all but the status, only the status, or both. The rest stays. */
export type UpdatedPart = 'object' | 'status' | 'any';
