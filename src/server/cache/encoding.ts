/**
 * How an object becomes bytes. What is stored is the object in the stored version, without `resourceVersion` (the store
 * gives it) and `selfLink` (it follows from the path); it starts with `{"kind":…,"apiVersion":…,"metadata":{`. Serving it
 * is then a splice behind that head, not a second encoding, and an item of a list is the same bytes without the head's
 * first two fields.
 */
import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';

/** The object with its fields in the order the splice relies on. */
function ordered(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  return { kind, apiVersion, metadata, ...rest };
}

export function encodeStored(object: KubeObject): Buffer {
  const { resourceVersion: _, selfLink: __, ...metadata } = object.metadata;
  return Buffer.from(JSON.stringify(ordered({ ...object, metadata })));
}

/** What comes before the metadata of an item in a list: `{"metadata":{…`. */
export const ITEM_HEAD = Buffer.from('{');

const heads = new WeakMap<Version, { full: string; item: number }>();

/** The head of an object of this version, and where the part starts that an item of a list keeps. */
export function headOf(kind: Kind, version: Version): { full: string; item: number } {
  let head = heads.get(version);
  if (!head) {
    const typed = `{"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(version.apiVersion)},`;
    head = { full: `${typed}"metadata":{`, item: typed.length };
    heads.set(version, head);
  }
  return head;
}

/** Puts `selfLink` and `resourceVersion` into stored bytes. */
export function splice(stored: Buffer, head: string, added: { selfLink: string; revision: number }): Buffer {
  const tail = stored[head.length] === CLOSING_BRACE ? '' : ',';
  const middle = `"selfLink":${JSON.stringify(added.selfLink)},"resourceVersion":"${added.revision}"${tail}`;
  const length = Buffer.byteLength(middle);
  const out = Buffer.allocUnsafe(stored.length + length);
  stored.copy(out, 0, 0, head.length);
  out.write(middle, head.length);
  stored.copy(out, head.length + length, head.length);
  return out;
}

const CLOSING_BRACE = 0x7d;

/** The path of an object in a version, as `selfLink` shows it. */
export function selfLinkOf(kind: Kind, version: Version, at: { namespace: string; name?: string }): string {
  const root = version.group ? `/apis/${version.apiVersion}` : `/api/${version.apiVersion}`;
  const scoped = at.namespace ? `${root}/namespaces/${at.namespace}/${kind.plural}` : `${root}/${kind.plural}`;
  return at.name === undefined ? scoped : `${scoped}/${at.name}`;
}
