/** Encodes changes as a ChangeList. The states of objects are copied once, from the bytes in the store to the answer. */
import type { ObjectChange } from '../../../api/past.ts';
import type { Item } from '../../../api/reply.ts';
import { allocateForSending, makeMovable } from '../../../base/bytes/shared-buffer.ts';
import { type SplicedBytes, writeSpliced } from '../../objects/cache/entry/encoding.ts';
import type { ChangePage } from './change-page.ts';

/** A change, and the states of the object that it shows. */
export interface ListedChange {
  readonly change: ObjectChange;
  readonly object?: SplicedBytes | undefined;
  readonly before?: SplicedBytes | undefined;
}

type Part = string | SplicedBytes;

const PARTS_OF_CHANGE = ['object', 'before'] as const;

/** Returns the list as an item. Sending it transfers its memory; who reads it afterwards, as the audit log may, gets a copy. */
export function changeListItem(page: ChangePage, items: readonly ListedChange[]): Item {
  let known: Buffer | undefined;
  const json = () => {
    if (!known?.length) known = encoded(page, items);
    return known;
  };
  return {
    json,
    get object() {
      return JSON.parse(json().toString());
    },
  };
}

function encoded({ revision, next }: ChangePage, items: readonly ListedChange[]): Buffer {
  const metadata = { resourceVersion: String(revision), continue: next };
  const parts: Part[] = [`{"kind":"ChangeList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`];
  for (const [index, item] of items.entries()) {
    parts.push(`${index > 0 ? ',' : ''}${JSON.stringify(item.change).slice(0, -1)}`);
    for (const name of PARTS_OF_CHANGE) {
      const state = item[name];
      if (state) parts.push(`,"${name}":`, state);
    }
    parts.push('}');
  }
  parts.push(']}');
  return joined(parts);
}

function joined(parts: readonly Part[]): Buffer {
  let length = 0;
  for (const part of parts) length += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
  const out = allocateForSending(length);
  let at = 0;
  for (const part of parts) at = typeof part === 'string' ? at + out.write(part, at) : writeSpliced(part, out, at);
  return makeMovable(out);
}
