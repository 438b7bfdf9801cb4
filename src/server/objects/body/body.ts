import { badRequest } from '../../../api/errors.ts';
import type { Item, ListedItem } from '../../../api/reply.ts';
import { isTree } from '../../../base/json/tree.ts';
import { type KubeObject, splitApiVersion } from '../../../kinds/kind.ts';
import { DecodeError, type DecodeOptions, decode, LimitError } from '../../../schema/decode/decode.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';
import { selfLinkOf } from '../cache/entry/encoding.ts';
import { fromHub, type MaybeAsync, whenReady } from '../conversion/convert.ts';
import type { BodyType } from '../registry/descriptor.ts';
import type { Registry, Resource } from '../registry/registry.ts';
import { invalidObject } from './check.ts';
import { REDACTED, reportBodyFaults, type SentBody, validatesFields } from './field-validation.ts';

/** The expected body: a kind's name, the version of the request, and the schema to decode it with. */
interface Expected {
  readonly kind: string;
  readonly apiVersion: string;
  /** The group in messages, if it is not the one in `apiVersion`. */
  readonly group?: string;
  readonly schema: ObjectSchema;
  /** True when errors must not quote the body. */
  readonly confidential?: boolean;
}

interface BodyRequest extends SentBody {
  readonly resource: Resource;
  readonly subresource?: { readonly body: BodyType } | undefined;
}

/** Decodes the body of a request as the type that its path expects. `replaced` returns the object that it replaces. */
export function readBody(request: BodyRequest, registry: Registry, replaced?: DecodeOptions['replaced']): KubeObject {
  return decodeBody(expectedBody(request), request, registry, replaced);
}

/** The body that the path of a request expects: an object of the resource's kind, or the body of its subresource. */
export function expectedBody({ resource: { kind, version }, subresource }: BodyRequest): Expected {
  if (!subresource) {
    const { confidential = false } = kind;
    return { kind: kind.kind, apiVersion: version.apiVersion, schema: version.schema, confidential };
  }
  const { body } = subresource;
  if (!body.schema) throw new Error(`bodies of kind ${body.kind} have no schema`);
  return body as Expected;
}

/** Decodes a body as a kind; the body may leave out its kind and apiVersion. */
export function decodeBody(
  expected: Expected,
  sent: SentBody,
  registry: Registry,
  replaced?: DecodeOptions['replaced'],
): KubeObject {
  const { body, duplicates } = sent.call;
  if (body === undefined) throw unrecognized(expected, 'unexpected end of JSON input', '<empty>');
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const summary = expected.confidential ? REDACTED : JSON.stringify(body).slice(0, 256);
    throw unrecognized(
      expected,
      `json: cannot unmarshal ${jsonType(body)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
      summary,
    );
  }
  // A missing, empty or null kind means the expected one.
  const kind = (body as { kind?: unknown }).kind ?? '';
  const apiVersion = (body as { apiVersion?: unknown }).apiVersion ?? '';
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    throw unrecognized(expected, 'kind and apiVersion must be strings', '');
  }
  checkType(expected, { kind: kind || expected.kind, apiVersion: apiVersion || expected.apiVersion }, registry);
  try {
    const unknown: string[] | undefined = validatesFields(sent) ? [] : undefined;
    const note = unknown && ((path: string) => void unknown.push(path));
    const object = decode(expected.schema, body, { unknown: note, replaced }) as KubeObject;
    if (unknown && (unknown.length > 0 || duplicates)) reportBodyFaults(sent, unknown, expected);
    object.kind = expected.kind;
    object.apiVersion = expected.apiVersion;
    return object;
  } catch (error) {
    throw cannotHandle(error, expected, body);
  }
}

/** Converts the error for a tree that cannot be decoded: 422 for a list that is too long, 400 for anything else. */
export function cannotHandle(error: unknown, expected: Omit<Expected, 'schema'>, tree: unknown): unknown {
  if (!(error instanceof DecodeError)) return error;
  const { kind, apiVersion } = expected;
  const [group, version] = splitApiVersion(apiVersion);
  if (error instanceof LimitError) {
    return invalidObject({ group: expected.group ?? group, kind }, nameOf(tree), error.errors);
  }
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`, error);
}

function nameOf(tree: unknown): string {
  const name = isTree(tree) && isTree(tree.metadata) ? tree.metadata.name : undefined;
  return typeof name === 'string' ? name : '';
}

function checkType(expected: Expected, given: { kind: string; apiVersion: string }, registry: Registry): void {
  if (given.kind === expected.kind && given.apiVersion === expected.apiVersion) return;
  const [group, version] = splitApiVersion(given.apiVersion);
  const known = registry.resourcesOf(given.apiVersion).some(({ kind }) => kind.kind === given.kind);
  if (!known) {
    throw badRequest(
      `${given.kind} in version "${version}" cannot be handled as a ${expected.kind}: no kind "${given.kind}" is registered for version "${given.apiVersion}"`,
    );
  }
  if (given.kind === expected.kind) {
    throw badRequest(
      `the API version in the data (${given.apiVersion}) does not match the expected API version (${expected.apiVersion})`,
    );
  }
  const target = `${splitApiVersion(expected.apiVersion)[0] || 'core'}.${expected.kind}`;
  throw badRequest(
    `${given.kind} in version "${version}" cannot be handled as a ${expected.kind}: converting (${group || ''}${version}.${given.kind}) to (${target}): unknown conversion`,
  );
}

function unrecognized(expected: Expected, problem: string, summary: string): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${expected.kind}): couldn't get version/kind; json parse error: ${problem} (${summary})`,
  );
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value === 'boolean' ? 'bool' : typeof value;
}

/** An item for an object outside the cache, such as the result of a dry run, or a Scale. */
export function plainItem(object: KubeObject): ListedItem {
  let json: Buffer | undefined;
  return {
    object,
    metadata: object.metadata,
    size: 0,
    json() {
      json ??= Buffer.from(JSON.stringify(object));
      return json;
    },
  };
}

/** Creates the item for an object that was not stored, converted from the stored version to that of the call. */
export function unstored(resource: Resource, object: KubeObject): MaybeAsync<Item> {
  return whenReady(fromHub(resource, object), (shown) => {
    const { namespace = '', name = '' } = shown.metadata;
    shown.metadata.selfLink = selfLinkOf(resource.kind, resource.version, { namespace, name });
    return plainItem(shown);
  });
}
