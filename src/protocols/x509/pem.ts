/** A block of a PEM file: a key, a certificate or a request. */
export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const TAIL = '-----';

export function pemOf(type: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `${BEGIN}${type}${TAIL}\n${lines.join('\n')}\n${END}${type}${TAIL}\n`;
}

/** Yields all complete blocks; skips malformed ones, and text between blocks. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let from = 0;
  for (let end = text.indexOf(END); end >= 0; end = text.indexOf(END, from)) {
    const before = text.slice(from, end);
    const begin = before.lastIndexOf(BEGIN);
    if (begin >= 0) {
      const block = read(before.slice(begin + BEGIN.length), text, end + END.length);
      if (block) yield block;
    }
    from = end + END.length;
  }
}

const LINE_END = /[^\S\n]*(?:\n|$)/y;

/** Reports whether a line consists of these words, without searching its end, which may be megabytes away. */
function isLine(words: string, text: string, start: number): boolean {
  LINE_END.lastIndex = start + words.length;
  return text.startsWith(words, start) && LINE_END.test(text);
}

/** Decodes a block. `after` is the position of the repeated type. */
function read(inside: string, text: string, after: number): PemBlock | undefined {
  const [first = '', ...lines] = inside.split('\n').map((line) => line.trim());
  if (!first.endsWith(TAIL) || !isLine(first, text, after)) return undefined;
  const blank = lines.findIndex((line) => !line.includes(':'));
  const hasHeaders = blank > 0;
  const base64 = lines.slice(blank).join('');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  return { type: first.slice(0, -TAIL.length), hasHeaders, bytes: Buffer.from(base64, 'base64') };
}
