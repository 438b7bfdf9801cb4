import { isUtf8 } from 'node:buffer';
import type { PatchType } from '../../../../api/call.ts';
import { badRequest } from '../../../../api/errors.ts';
import { REDACTED } from '../../../objects/body/field-validation.ts';
import { DecodeError } from '../../codec/decode-error.ts';
import { decodeJson } from '../../codec/json.ts';
import { duplicateKeys } from '../../codec/json-duplicates.ts';
import { type DecodeYaml, decodeYaml } from '../../codec/yaml.ts';
import type { ProtobufBodies } from '../../protobuf/bodies.ts';
import { PROTOBUF_TYPE } from '../../protobuf/envelope.ts';
import { unsupportedMediaType } from '../errors.ts';
import type { Limits } from '../limits.ts';
import { ACCEPTED_TYPES } from '../respond/accept.ts';

type Format = 'json' | 'yaml' | 'protobuf';

const BODY_TYPES = [...ACCEPTED_TYPES, PROTOBUF_TYPE];

const PATCH_TYPES = new Map<string, PatchType>([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
]);

/** Returns the format of a Content-Type. Without one, the body is JSON. */
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

/** Rejects compressed bodies. */
export function rejectEncoding(contentEncoding: string | undefined): void {
  if (contentEncoding !== undefined && contentEncoding !== 'identity') throw unsupportedMediaType(BODY_TYPES);
}

function mediaTypeOf(contentType: string): string {
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

/** The purpose of decoding a body, which also determines the error messages. */
export interface DecodeContext {
  /** The kind that the endpoint accepts, with its group and version. */
  readonly kind: string;
  readonly apiVersion: string;
  /** True when errors must not quote the body. */
  readonly confidential: boolean;
  readonly limits: Limits;
  readonly protobuf: ProtobufBodies;
  /** Called with the paths of duplicate fields; when absent they are ignored. */
  readonly onDuplicates?: ((paths: readonly string[]) => void) | undefined;
  /** Decodes large YAML texts. Default: on the event loop. */
  readonly decodeLargeYaml?: DecodeYaml | undefined;
}

/** Decodes the object of a create or an update; synchronously if it is JSON, as nearly all are. */
export function decodeObject(bytes: Buffer, format: Format, context: DecodeContext): object | Promise<object> {
  const reject = (error: unknown): never => {
    if (!(error instanceof DecodeError)) throw error;
    const start = `the object provided is unrecognized (must be of type ${context.kind})`;
    const end = context.confidential ? `${error.redacted} (${REDACTED})` : `${error.message} (${summary(bytes)})`;
    throw badRequest(`${start}: ${end}`, error);
  };
  try {
    const decoded = decode(bytes, format, context);
    return decoded instanceof Promise ? decoded.catch(reject) : decoded;
  } catch (error) {
    return reject(error);
  }
}

/** Decodes the options that a delete may send in its body. */
export async function decodeOptions(
  bytes: Buffer,
  format: Format,
  context: Omit<DecodeContext, 'kind' | 'confidential'>,
): Promise<object> {
  try {
    return await decode(bytes, format, { ...context, kind: 'DeleteOptions', confidential: false });
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message, error);
    throw error;
  }
}

export function decodePatch(bytes: Buffer, type: PatchType, { limits, onDuplicates }: JsonContext): unknown {
  try {
    const value = readJson(bytes, { limits, onDuplicates });
    if ((type === 'json') !== Array.isArray(value) || typeof value !== 'object' || value === null) {
      throw new DecodeError(`json: cannot unmarshal ${typeName(value)} into a ${type} patch`);
    }
    return value;
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`error decoding patch: ${error.message}`, error);
    throw error;
  }
}

/** Decodes an applied configuration: YAML, mostly written as JSON. Duplicate keys are reported with their lines. */
export async function decodeConfiguration(bytes: Buffer, context: ConfigurationContext): Promise<unknown> {
  const { limits, onDuplicates, decodeLargeYaml } = context;
  try {
    if (!isUtf8(bytes)) throw new DecodeError('the body is not valid UTF-8');
    let hasDuplicates = false;
    const note = onDuplicates && (() => (hasDuplicates = true));
    const json = jsonOrUndefined(bytes, { limits, onDuplicates: note });
    if (json !== undefined && !hasDuplicates) return json;
    const yamlLimits = { ...limits, onRepeatedKeys: onDuplicates };
    const decoded = await decodeYaml(bytes.toString('utf8'), yamlLimits, decodeLargeYaml);
    return json ?? decoded;
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`error decoding YAML: ${error.message}`, error);
    throw error;
  }
}

const OPENING_BRACE = 0x7b;

/** Parses the object if the YAML is written as JSON; otherwise returns undefined. */
function jsonOrUndefined(bytes: Buffer, context: JsonContext): unknown {
  if (bytes[0] !== OPENING_BRACE) return undefined;
  try {
    return readJson(bytes, context);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

type JsonContext = Pick<DecodeContext, 'limits' | 'onDuplicates'>;
type ConfigurationContext = JsonContext & Pick<DecodeContext, 'decodeLargeYaml'>;

function readJson(bytes: Buffer, { limits, onDuplicates }: JsonContext): unknown {
  const value = decodeJson(bytes, limits.maxDepth);
  const duplicates = onDuplicates && duplicateKeys(bytes, value);
  if (duplicates) onDuplicates(duplicates);
  return value;
}

function decode(bytes: Buffer, format: Format, context: DecodeContext): object | Promise<object> {
  const { kind, limits, onDuplicates } = context;
  if (format === 'protobuf') return context.protobuf.decode(bytes, context);
  if (format === 'yaml') {
    if (!isUtf8(bytes)) throw new DecodeError('the body is not valid UTF-8');
    // JSON is valid YAML, and parsed faster.
    const json = jsonOrUndefined(bytes, context);
    if (json !== undefined) return identified(json, kind);
    const decoding = decodeYaml(bytes.toString('utf8'), { ...limits, onDuplicates }, context.decodeLargeYaml);
    return decoding.then((value) => identified(value, kind));
  }
  try {
    return identified(readJson(bytes, context), kind);
  } catch (error) {
    if (error instanceof DecodeError) throw new DecodeError(`couldn't get version/kind; ${error.message}`, error);
    throw error;
  }
}

/** Checks that a value is an object whose `kind` and `apiVersion`, if present, are strings. */
function identified(value: unknown, kind: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
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

const SUMMARY_BYTES = 30;

/** Returns the beginning of a body that could not be decoded. */
function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const start = bytes.subarray(0, SUMMARY_BYTES);
  const text = bytes[0] === 0x7b ? start.toString('utf8') : start.toString('hex');
  return bytes.length > SUMMARY_BYTES ? `${text} ...` : text;
}
