/**
 * How an object becomes bytes. What is stored is the object in the stored version, without `resourceVersion` (the store
 * gives it) and `selfLink` (it follows from the path); it starts with `{"kind":…,"apiVersion":…,"metadata":{`. Serving it
 * is then a splice behind that head, not a second encoding, and an item of a list is the same bytes without the head's
 * first two fields.
 */
import type { Tree } from '../../base/tree.ts';
import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';

/** The object as JSON, its fields in the order the splice relies on. */
export function encode(object: KubeObject): Buffer {
  return encodeChange(object).bytes;
}

/** An object as JSON, and where its parts are in it. */
export interface Encoded {
  readonly bytes: Buffer;
  /** Of every field behind the metadata: its name, and where its value begins and ends. */
  readonly parts: readonly Part[];
}

interface Part {
  readonly field: string;
  readonly start: number;
  readonly end: number;
}

/** What an object was before it was changed, or as much of that as is known. */
export interface Before {
  readonly object: object;
  readonly encoded: Encoded;
}

/**
 * The same for an object that was changed. A field whose value is the very one of before has the same bytes: most writes
 * leave either the spec or the status alone, and encoding is the dearest part of a write.
 */
export function encodeChange(object: KubeObject, before?: Before): Encoded {
  const { kind, apiVersion, metadata } = object;
  const tree = object as KubeObject & Tree;
  const pieces: Piece[] = [];
  let text = `${typedHead(kind, apiVersion)}"metadata":${JSON.stringify(metadata)}`;
  for (const field in tree) {
    if (field === 'kind' || field === 'apiVersion' || field === 'metadata') continue;
    const value = bytesBefore(tree, field, before) ?? JSON.stringify(tree[field]);
    if (value === undefined) continue;
    pieces.push({ text: `${text},${JSON.stringify(field)}:`, field, value });
    text = '';
  }
  return keep(pieces, `${text}}`);
}

/** A field's value, and the text before it. */
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

/**
 * Objects stay for long and are small: side by side in slabs of their own they keep nothing else from being freed, as
 * they would among the short-lived buffers of Node's pool.
 */
const SLAB = 256 * 1024;
let slab = Buffer.alloc(0);
let used = 0;

/** A text as bytes that stay as long as an object does. */
export function kept(text: string): Buffer {
  return keep([], text).bytes;
}

/** Texts up to this length are written together with the one before: every write is a call out of JavaScript. */
const SHORT = 1024;

function keep(pieces: readonly Piece[], end: string): Encoded {
  let most = end.length * 3;
  for (const { text, value } of pieces) most += text.length * 3 + value.length * (typeof value === 'string' ? 3 : 1);
  const isLarge = most > SLAB / 4;
  if (!isLarge && used + most > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB);
    used = 0;
  }
  const target = isLarge ? Buffer.allocUnsafeSlow(most) : slab;
  const start = isLarge ? 0 : used;
  const parts: Part[] = [];
  let at = start;
  for (const { text, field, value } of pieces) {
    const from = at - start;
    let before: number;
    if (typeof value === 'string' && value.length <= SHORT) {
      before = Buffer.byteLength(text);
      at += target.write(text + value, at);
    } else {
      before = target.write(text, at);
      at += before;
      if (typeof value === 'string') at += target.write(value, at);
      else at += value.copy(target, at);
    }
    parts.push({ field, start: from + before, end: at - start });
  }
  at += target.write(end, at);
  if (!isLarge) used = at;
  const bytes = target.subarray(start, at);
  // What is large was given room for the worst case.
  return { bytes: isLarge ? Buffer.from(bytes) : bytes, parts };
}

function typedHead(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

interface Head {
  /** Everything before the fields of the metadata. */
  readonly bytes: Buffer;
  /** Where the part starts that an item of a list keeps. */
  readonly item: number;
  /** Where objects of the version are found: `/api/v1` or `/apis/GROUP/VERSION`. */
  readonly root: string;
}

const heads = new WeakMap<Version, Head>();

/** What the JSON of every object of this version starts with. */
export function headOf(kind: Kind, version: Version): Head {
  let head = heads.get(version);
  if (!head) {
    const typed = typedHead(kind.kind, version.apiVersion);
    const root = version.group ? `/apis/${version.apiVersion}` : `/api/${version.apiVersion}`;
    head = { bytes: Buffer.from(`${typed}"metadata":{`), item: Buffer.byteLength(typed), root };
    heads.set(version, head);
  }
  return head;
}

/** Whether stored bytes begin as those of an object in the kind's stored version do. */
export function hasHead(stored: Buffer, kind: Kind): boolean {
  const { bytes } = headOf(kind, kind.hub);
  return stored.length > bytes.length && stored.compare(bytes, 0, bytes.length, 0, bytes.length) === 0;
}

/** Puts `selfLink` and `resourceVersion` into bytes that have neither, behind a head of `at` bytes. */
export function splice(stored: Buffer, at: number, added: { selfLink: string; revision: number }): Buffer {
  const tail = stored[at] === CLOSING_BRACE ? '' : ',';
  const middle = `"selfLink":${JSON.stringify(added.selfLink)},"resourceVersion":"${added.revision}"${tail}`;
  const length = Buffer.byteLength(middle);
  const out = Buffer.allocUnsafe(stored.length + length);
  out.set(stored.subarray(0, at), 0);
  out.write(middle, at);
  out.set(stored.subarray(at), at + length);
  return out;
}

const CLOSING_BRACE = 0x7d;

/** The path of an object, or of the list it stands in, in a version. */
export function selfLinkOf(kind: Kind, version: Version, at: { namespace: string; name?: string }): string {
  const { root } = headOf(kind, version);
  const list = at.namespace ? `${root}/namespaces/${at.namespace}/${kind.plural}` : `${root}/${kind.plural}`;
  return at.name === undefined ? list : `${list}/${at.name}`;
}
