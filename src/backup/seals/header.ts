/** The text before the encrypted content of an age file. */
import { SealError } from '../seal.ts';

const VERSION_LINE = 'age-encryption.org/v1\n';
/** Start of the last line of a header. */
const LAST_LINE = '\n---';
const ARMOR_LINE = '-----BEGIN AGE ENCRYPTED FILE-----';
/** Some 500 recipients. */
export const MAX_HEADER_BYTES = 64 * 1024;

export interface Header {
  /** Kinds of the keys that open the file, such as `scrypt` and `X25519`. */
  readonly kinds: readonly string[];
  /** The whole file, the header included. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Reads the header of a file. Throws a SealError when the file is not one of age, or has no end of its header within the limit. */
export async function readHeader(file: AsyncIterable<Uint8Array>): Promise<Header> {
  const iterator = file[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let searched = 0;
  try {
    for (;;) {
      checkStart(head.toString('latin1', 0, ARMOR_LINE.length));
      const last = head.indexOf(LAST_LINE, searched);
      const end = last < 0 ? -1 : head.indexOf('\n', last + 1);
      if ((end < 0 ? head.length : end) >= MAX_HEADER_BYTES)
        throw damaged(`has no end within ${MAX_HEADER_BYTES} bytes`);
      if (end >= 0) return { kinds: kindsIn(head.toString('latin1', 0, last)), content: joined(head, iterator) };
      searched = last < 0 ? Math.max(0, head.length - LAST_LINE.length) : last;
      const { done, value } = await iterator.next();
      if (done) throw damaged('is incomplete: the file ends in it');
      head = Buffer.concat([head, value]);
    }
  } catch (error) {
    await iterator.return?.();
    throw error;
  }
}

/** Rejects other files at their first bytes. */
function checkStart(text: string): void {
  const start = text.slice(0, VERSION_LINE.length);
  if (VERSION_LINE.startsWith(start)) return;
  const hint = ARMOR_LINE.startsWith(text.slice(0, ARMOR_LINE.length))
    ? 'it is armored: decode it first, with `age --decrypt` or by base64'
    : `it starts with ${JSON.stringify(start)}`;
  throw new SealError('Damaged', `expected a file of age, version 1; ${hint}`);
}

function kindsIn(header: string): readonly string[] {
  return [...header.matchAll(/^-> ([^\s]+)/gm)].map(([, kind]) => kind!);
}

function damaged(what: string): SealError {
  return new SealError('Damaged', `the header of the encrypted file ${what}`);
}

async function* joined(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield head;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
