import { isUtf8 } from 'node:buffer';
import { badRequest } from '../../../base/errors.ts';
import type { PatchType } from '../../api.ts';
import type { ProtobufBodies } from '../../protobuf/bodies.ts';
import { unsupportedMediaType } from '../errors.ts';
import type { Limits } from '../limits.ts';
import { ACCEPTED_TYPES } from '../respond/accept.ts';
import { DecodeError } from './decode-error.ts';
import { decodeJson } from './json.ts';
import { duplicateKeys } from './json-duplicates.ts';
import { decodeYaml } from './yaml.ts';

type Format = 'json' | 'yaml' | 'protobuf';

const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const BODY_TYPES = [...ACCEPTED_TYPES, PROTOBUF_TYPE];

const PATCH_TYPES = new Map<string, PatchType>([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
]);

/** The format that a Content-Type names; none at all means JSON. */
export function formatOf(contentType: string | undefined): Format {
  if (contentType === undefined || contentType === 'application/json' || contentType === '') return 'json';
  switch (mediaTypeOf(contentType)) {
    case 'application/json':
      return 'json';
    case 'application/yaml':
      return 'yaml';
    case PROTOBUF_TYPE:
      return 'protobuf';
    default:
      throw unsupportedMediaType(BODY_TYPES);
  }
}

export function patchTypeOf(contentType: string | undefined): PatchType {
  const type = PATCH_TYPES.get(mediaTypeOf(contentType ?? ''));
  if (!type) throw unsupportedMediaType([...PATCH_TYPES.keys()]);
  return type;
}

/** Bodies come as they are: a compressed one would have to be limited twice. */
export function refuseEncoding(contentEncoding: string | undefined): void {
  if (contentEncoding !== undefined && contentEncoding !== 'identity') throw unsupportedMediaType(BODY_TYPES);
}

function mediaTypeOf(contentType: string): string {
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

/** What a body is for: it decides how a failure is worded. */
export interface Purpose {
  /** The kind that the endpoint takes, and its group and version. */
  readonly kind: string;
  readonly apiVersion: string;
  readonly limits: Limits;
  readonly protobuf: ProtobufBodies;
  /** Told of fields that stand twice, where somebody wants to know. */
  readonly duplicates?: ((paths: readonly string[]) => void) | undefined;
}

/** Kinds of which nothing is repeated: what is answered is also noted in the audit log. */
const CONFIDENTIAL: ReadonlySet<string> = new Set(['Secret', 'TokenReview']);
const REDACTED = '<secret contents redacted>';

/** The object that a create or an update sends. At once where it is JSON, as nearly all are. */
export function decodeObject(bytes: Buffer, format: Format, purpose: Purpose): object | Promise<object> {
  const refuse = (error: unknown): never => {
    if (!(error instanceof DecodeError)) throw error;
    const { message } = error;
    const start = `the object provided is unrecognized (must be of type ${purpose.kind})`;
    throw badRequest(`${start}: ${message} (${CONFIDENTIAL.has(purpose.kind) ? REDACTED : summary(bytes)})`, error);
  };
  try {
    const decoded = decode(bytes, format, purpose);
    return decoded instanceof Promise ? decoded.catch(refuse) : decoded;
  } catch (error) {
    return refuse(error);
  }
}

/** The options that a delete may send in its body. */
export async function decodeOptions(bytes: Buffer, format: Format, purpose: Omit<Purpose, 'kind'>): Promise<object> {
  try {
    return await decode(bytes, format, { ...purpose, kind: 'DeleteOptions' });
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message, error);
    throw error;
  }
}

export function decodePatch(bytes: Buffer, type: PatchType, { limits, duplicates }: Reading): unknown {
  try {
    const value = readJson(bytes, { limits, duplicates });
    if ((type === 'json') !== Array.isArray(value) || typeof value !== 'object' || value === null) {
      throw new DecodeError(`json: cannot unmarshal ${typeName(value)} into a ${type} patch`);
    }
    return value;
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`error decoding patch: ${error.message}`, error);
    throw error;
  }
}

/** What reading JSON takes. */
type Reading = Pick<Purpose, 'limits' | 'duplicates'>;

function readJson(bytes: Buffer, { limits, duplicates }: Reading): unknown {
  const value = decodeJson(bytes, limits.maxDepth);
  const twice = duplicates && duplicateKeys(bytes, value);
  if (twice) duplicates(twice);
  return value;
}

function decode(bytes: Buffer, format: Format, purpose: Purpose): object | Promise<object> {
  const { kind, limits, duplicates } = purpose;
  if (format === 'protobuf') return purpose.protobuf.decode(bytes, purpose);
  if (format === 'yaml') {
    if (!isUtf8(bytes)) throw new DecodeError('the body is not valid UTF-8');
    const decoding = decodeYaml(bytes.toString('utf8'), { ...limits, duplicates });
    return decoding.then((value) => identified(value, kind));
  }
  try {
    return identified(readJson(bytes, purpose), kind);
  } catch (error) {
    if (error instanceof DecodeError) throw new DecodeError(`couldn't get version/kind; ${error.message}`, error);
    throw error;
  }
}

/** An object whose `kind` and `apiVersion`, where they stand, are texts. A null is an object that says nothing. */
function identified(value: unknown, kind: string): object {
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new DecodeError(`json parse error: json: cannot unmarshal ${typeName(value)} into Go value of type ${kind}`);
  }
  for (const key of ['apiVersion', 'kind'] as const) {
    const field = (value as Record<string, unknown>)[key];
    if (field !== undefined && field !== null && typeof field !== 'string') {
      throw new DecodeError(
        `json parse error: json: cannot unmarshal ${typeName(field)} into Go struct field .${key} of type string`,
      );
    }
  }
  return value;
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** The beginning of a body that was not understood. */
function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const start = bytes.subarray(0, 30);
  const text = bytes[0] === 0x7b ? start.toString('utf8') : start.toString('hex');
  return bytes.length > 30 ? `${text} ...` : text;
}
