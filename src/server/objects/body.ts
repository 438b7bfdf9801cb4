import { badRequest } from '../../base/errors.ts';
import { type KubeObject, splitApiVersion } from '../../kinds/kind.ts';
import { DecodeError, decode } from '../../schema/decode.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import type { Registry, Resource } from '../registry.ts';
import { reportBodyFaults, type SentBody, validatesFields } from './field-validation.ts';

/** What a body should be: a kind's name, the version of the request, and the schema to decode it with. */
interface Expected {
  readonly kind: string;
  readonly apiVersion: string;
  readonly schema: ObjectSchema;
}

/** Decodes a body as the object that a path expects; kind and apiVersion may be left to the path. */
export function readBody(expected: Expected, sent: SentBody, registry: Registry): KubeObject {
  const { body, duplicates } = sent.call;
  if (body === undefined) throw unrecognized(expected, 'unexpected end of JSON input', '<empty>');
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const summary = JSON.stringify(body).slice(0, 256);
    throw unrecognized(
      expected,
      `json: cannot unmarshal ${jsonType(body)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
      summary,
    );
  }
  const { kind = '', apiVersion = '' } = body as Partial<KubeObject>;
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    throw unrecognized(expected, 'kind and apiVersion must be strings', '');
  }
  checkType(expected, { kind: kind || expected.kind, apiVersion: apiVersion || expected.apiVersion }, registry);
  try {
    const unknown: string[] | undefined = validatesFields(sent) ? [] : undefined;
    const note = unknown && ((path: string) => void unknown.push(path));
    const object = decode(expected.schema, body, note && { unknown: note }) as KubeObject;
    if (unknown && (unknown.length > 0 || duplicates)) reportBodyFaults(sent, unknown, expected);
    object.kind = expected.kind;
    object.apiVersion = expected.apiVersion;
    return object;
  } catch (error) {
    throw cannotHandle(error, expected.kind, expected.apiVersion);
  }
}

/** What the paths of a kind's own objects expect. */
export function expectedBody({ kind, version }: Resource): Expected {
  return { kind: kind.kind, apiVersion: version.apiVersion, schema: version.schema };
}

export function cannotHandle(error: unknown, kind: string, apiVersion: string): unknown {
  if (!(error instanceof DecodeError)) return error;
  const [, version] = splitApiVersion(apiVersion);
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`, error);
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
