/**
 * How an object becomes bytes. What is stored is the object in the stored version, without `resourceVersion` (the store
 * gives it) and `selfLink` (it follows from the path); it starts with `{"kind":…,"apiVersion":…,"metadata":{`. Serving it
 * is then a splice behind that head, not a second encoding, and an item of a list is the same bytes without the head's
 * first two fields.
 */
import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';

/** The object as JSON, its fields in the order the splice relies on. */
export function encode(object: KubeObject): Buffer {
  const { kind, apiVersion, metadata, ...rest } = object;
  return keep(JSON.stringify({ kind, apiVersion, metadata, ...rest }));
}

/**
 * Objects stay for long and are small: side by side in slabs of their own they keep nothing else from being freed, as
 * they would among the short-lived buffers of Node's pool.
 */
const SLAB = 256 * 1024;
let slab = Buffer.alloc(0);
let used = 0;

function keep(text: string): Buffer {
  const most = text.length * 3;
  if (most > SLAB / 4) return Buffer.from(text);
  if (used + most > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB);
    used = 0;
  }
  const start = used;
  used += slab.write(text, start);
  return slab.subarray(start, used);
}

function typedHead(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

interface Head {
  /** Everything before the fields of the metadata. */
  readonly full: string;
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
    head = { full: `${typed}"metadata":{`, item: Buffer.byteLength(typed), root };
    heads.set(version, head);
  }
  return head;
}

/** Puts `selfLink` and `resourceVersion` into bytes that have neither. */
export function splice(stored: Buffer, head: string, added: { selfLink: string; revision: number }): Buffer {
  const at = head.length;
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
