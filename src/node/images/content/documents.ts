/** Reads the JSON documents of an image, and checks the parts that are used. */
import { exceeded } from '../../../base/json/size.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Descriptor } from './descriptor.ts';
import { isDigest } from './digest.ts';
import { isIndex, isManifest, OCI_INDEX, OCI_MANIFEST } from './media-types.ts';

export interface Manifest {
  readonly type: 'manifest';
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

export interface Index {
  readonly type: 'index';
  readonly manifests: readonly Descriptor[];
}

/** Manifests, indexes and configurations are read whole; larger ones are rejected, as registries do. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;
const LIMITS = { maxDepth: 100, maxParts: 500_000 };

type Json = Readonly<Record<string, unknown>>;

export function parseDocument(what: string, bytes: Uint8Array): Json {
  const document = parseJson(what, bytes);
  if (isObject(document)) return document;
  throw new RuntimeError('Unknown', `${what} is not a JSON object`);
}

export function parseList(what: string, bytes: Uint8Array): readonly unknown[] {
  const document = parseJson(what, bytes);
  if (Array.isArray(document)) return document;
  throw new RuntimeError('Unknown', `${what} is not a JSON list`);
}

function parseJson(what: string, bytes: Uint8Array): unknown {
  try {
    const text = Buffer.from(bytes).toString('utf8');
    // Opening brackets without end would block the event loop.
    if (exceeded(text, LIMITS) !== undefined) throw new Error('it is nested too deep, or has too many values');
    return JSON.parse(text);
  } catch (error) {
    throw new RuntimeError('Unknown', `${what} is not JSON`, { cause: error });
  }
}

/** Parses a manifest or an index, told apart by its media type or, without one, by its fields. */
export function parseManifest(what: string, bytes: Uint8Array): Manifest | Index {
  const document = parseDocument(what, bytes);
  if (document.schemaVersion !== 2) {
    throw new RuntimeError('Unknown', `${what} has schema version ${document.schemaVersion}, and only 2 is supported`);
  }
  const { mediaType } = document;
  const type = typeof mediaType === 'string' ? mediaType : Array.isArray(document.manifests) ? OCI_INDEX : OCI_MANIFEST;
  if (isIndex(type)) return { type: 'index', manifests: descriptors(what, document.manifests) };
  if (!isManifest(type)) throw new RuntimeError('Unknown', `${what} has the unknown media type ${type}`);
  const config = descriptor(what, document.config);
  // It is read whole, too.
  if (config.size > MAX_DOCUMENT_BYTES)
    throw new RuntimeError('Unknown', `${what} has a configuration that is too large`);
  return {
    type: 'manifest',
    config,
    layers: descriptors(what, document.layers ?? []),
  };
}

function descriptors(what: string, values: unknown): Descriptor[] {
  if (!Array.isArray(values)) throw malformed(what);
  return values.map((value) => descriptor(what, value));
}

function descriptor(what: string, value: unknown): Descriptor {
  if (!isObject(value) || !isDigest(value.digest) || !Number.isSafeInteger(value.size) || Number(value.size) < 0) {
    throw malformed(what);
  }
  return {
    mediaType: typeof value.mediaType === 'string' ? value.mediaType : '',
    digest: value.digest,
    size: Number(value.size),
    platform: isObject(value.platform) ? (value.platform as unknown as Descriptor['platform']) : undefined,
    annotations: isObject(value.annotations) ? (value.annotations as Record<string, string>) : undefined,
  };
}

const malformed = (what: string) => new RuntimeError('Unknown', `${what} has a descriptor without digest or size`);

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
