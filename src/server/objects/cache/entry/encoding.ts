/**
 * Encodes objects. Objects are stored in the stored version, without `resourceVersion` (the store assigns it) and
 * `selfLink` (derived from the path); they start with `{"kind":…,"apiVersion":…,"metadata":{`. Serving an object is
 * then a splice behind that head instead of a second encoding, and an item of a list is the same bytes without the
 * first two fields, which custom kinds keep. The splice also replaces `managedFields`, which are stored packed.
 */
import { objectSlabs } from '../../../../base/bytes/slabs.ts';
import { rawJson } from '../../../../base/json/raw-json.ts';
import type { Tree } from '../../../../base/json/tree.ts';
import type { Kind, KubeObject, Version } from '../../../../kinds/kind.ts';
import { findManagers, servedManagers, storedMetadata } from '../../managed-fields/stored/stored-managers.ts';

/** Encodes an object in its served form. */
export function encode(object: KubeObject, rawFields?: Kind['rawFields']): Buffer {
  return encodeParts(object, JSON.stringify(object.metadata), { rawFields }).bytes;
}

/** An object as JSON, and the positions of its top-level fields. */
export interface Encoded {
  readonly bytes: Buffer;
  /** The longer fields behind the metadata, with the start and end offsets of their values. */
  readonly parts: readonly Part[];
}

interface Part {
  readonly field: string;
  readonly start: number;
  readonly end: number;
}

/** An object before it was changed, or a part of it. */
export interface Before {
  readonly object: object;
  readonly encoded: Encoded;
}

/**
 * Encodes a changed object for the store. The bytes of a field whose value is the same reference as before are copied:
 * most writes change only the spec or only the status, and encoding is the most expensive part of a write.
 */
export function encodeChange(object: KubeObject, before?: Before, rawFields?: Kind['rawFields']): Encoded {
  return encodeParts(object, storedMetadata(object.metadata), { before, rawFields });
}

/** Minimum length of tracked values: tracking shorter ones costs more than encoding them again. */
const MIN_PART_LENGTH = 128;

interface EncodeOptions {
  readonly before?: Before | undefined;
  readonly rawFields: Kind['rawFields'] | undefined;
}

/** Encodes the fields in the order that the splice relies on. `metadata` is that of the object, as JSON. */
function encodeParts(object: KubeObject, metadata: string, { before, rawFields }: EncodeOptions): Encoded {
  const { kind, apiVersion } = object;
  const tree = object as KubeObject & Tree;
  const pieces: Piece[] = [];
  let text = `${typedHead(kind, apiVersion)}"metadata":${metadata}`;
  for (const field in tree) {
    if (field === 'kind' || field === 'apiVersion' || field === 'metadata') continue;
    const value =
      bytesBefore(tree, field, before) ??
      (rawFields?.includes(field) && tree[field] !== undefined ? rawJson(tree[field]) : JSON.stringify(tree[field]));
    if (value === undefined) continue;
    text += `,${JSON.stringify(field)}:`;
    if (typeof value === 'string' && value.length < MIN_PART_LENGTH) {
      text += value;
      continue;
    }
    pieces.push({ text, field, value });
    text = '';
  }
  return pack(pieces, `${text}}`);
}

/** The value of a field, and the text before it. */
interface Piece {
  readonly text: string;
  readonly field: string;
  readonly value: string | Buffer;
}

function bytesBefore(object: Tree, field: string, before: Before | undefined): Buffer | undefined {
  if (!before || object[field] !== (before.object as Tree)[field]) return undefined;
  const { bytes, parts } = before.encoded;
  for (const part of parts) if (part.field === field) return bytes.subarray(part.start, part.end);
  return undefined;
}

/** Encodes a text that lives as long as an object. */
export function encodeLasting(text: string): Buffer {
  return pack([], text).bytes;
}

/** Maximum length of values that are written together with the text before them: each write leaves JavaScript. */
const MAX_JOINED_LENGTH = 1024;

function pack(pieces: readonly Piece[], end: string): Encoded {
  let most = end.length * 3;
  for (const { text, value } of pieces) most += text.length * 3 + value.length * (typeof value === 'string' ? 3 : 1);
  const target = objectSlabs.allocate(most);
  const parts: Part[] = [];
  let at = 0;
  for (const { text, field, value } of pieces) {
    const from = at;
    let before: number;
    if (typeof value === 'string' && value.length <= MAX_JOINED_LENGTH) {
      before = Buffer.byteLength(text);
      at += target.write(text + value, at);
    } else {
      before = target.write(text, at);
      at += before;
      if (typeof value === 'string') at += target.write(value, at);
      else at += value.copy(target, at);
    }
    parts.push({ field, start: from + before, end: at });
  }
  at += target.write(end, at);
  return { bytes: objectSlabs.shorten(target, at), parts };
}

function typedHead(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

interface Head {
  /** All bytes before the fields of the metadata. */
  readonly bytes: Buffer;
  /** The offset where a list item starts, without its opening brace. */
  readonly item: number;
  /** The path of the group and version: `/api/v1` or `/apis/GROUP/VERSION`. */
  readonly root: string;
}

const OPENING_BRACE_BYTES = 1;

const heads = new WeakMap<Version, Head>();

/** Returns the head with which the JSON of every object of a version starts. */
export function headOf(kind: Kind, version: Version): Head {
  let head = heads.get(version);
  if (!head) {
    const typed = typedHead(kind.kind, version.apiVersion);
    const root = version.group ? `/apis/${version.apiVersion}` : `/api/${version.apiVersion}`;
    const item = kind.hasTypedItems ? OPENING_BRACE_BYTES : Buffer.byteLength(typed);
    head = { bytes: Buffer.from(`${typed}"metadata":{`), item, root };
    heads.set(version, head);
  }
  return head;
}

/** Reports whether stored bytes begin with the head of the kind's stored version. */
export function hasHead(stored: Buffer, kind: Kind): boolean {
  const { bytes } = headOf(kind, kind.hub);
  return stored.length > bytes.length && stored.compare(bytes, 0, bytes.length, 0, bytes.length) === 0;
}

/** Bytes with an insertion, to be combined on use. */
export interface SplicedBytes {
  readonly bytes: Buffer;
  /** The offset of the insertion, and the offset at which the bytes continue. */
  readonly at: number;
  readonly next: number;
  readonly inserted: readonly (string | Buffer)[];
  readonly length: number;
}

/** Inserts `selfLink` and `resourceVersion` behind a head of `at` bytes, and replaces packed managers. */
export function splice(bytes: Buffer, at: number, added: { selfLink: string; revision: number }): SplicedBytes {
  const head = `"selfLink":${JSON.stringify(added.selfLink)},"resourceVersion":"${added.revision}"`;
  const managers = findManagers(bytes, at);
  if (!managers) {
    const inserted = bytes[at] === CLOSING_BRACE ? head : `${head},`;
    return { bytes, at, next: at, inserted: [inserted], length: bytes.length + Buffer.byteLength(inserted) };
  }
  const inserted = servedManagers(managers, `${head},`);
  let length = bytes.length - (managers.end - at);
  for (const part of inserted) length += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
  return { bytes, at, next: managers.end, inserted, length };
}

const NOTHING: readonly string[] = Object.freeze([]);

export function unspliced(bytes: Buffer): SplicedBytes {
  return { bytes, at: bytes.length, next: bytes.length, inserted: NOTHING, length: bytes.length };
}

/** Writes the bytes without the first `skipped`, which must all precede the insertion. Returns the end offset. */
export function writeSpliced(source: SplicedBytes, out: Buffer, start: number, skipped = 0): number {
  const { bytes, at, next, inserted } = source;
  let end = start + bytes.copy(out, start, skipped, at);
  for (const part of inserted) end += typeof part === 'string' ? out.write(part, end) : part.copy(out, end);
  return next === bytes.length ? end : end + bytes.copy(out, end, next);
}

const CLOSING_BRACE = 0x7d;

/** Returns the path of an object in a version or, without a name, of its list. */
export function selfLinkOf(kind: Kind, version: Version, at: { namespace: string; name?: string }): string {
  const { root } = headOf(kind, version);
  const list = at.namespace ? `${root}/namespaces/${at.namespace}/${kind.plural}` : `${root}/${kind.plural}`;
  return at.name === undefined ? list : `${list}/${at.name}`;
}
