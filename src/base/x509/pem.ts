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

/** All complete blocks; malformed ones, and text between blocks, are skipped. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let from = 0;
  for (let end = text.indexOf(END); end >= 0; end = text.indexOf(END, from)) {
    const before = text.slice(from, end);
    const begin = before.lastIndexOf(BEGIN);
    if (begin >= 0) {
      const block = read(before.slice(begin + BEGIN.length), lineAt(text, end + END.length));
      if (block) yield block;
    }
    from = end + END.length;
  }
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return (end < 0 ? text.slice(start) : text.slice(start, end)).trimEnd();
}

function read(inside: string, lastLine: string): PemBlock | undefined {
  const [first = '', ...lines] = inside.split('\n').map((line) => line.trim());
  if (!first.endsWith(TAIL) || lastLine !== first) return undefined;
  const blank = lines.findIndex((line) => !line.includes(':'));
  const hasHeaders = blank > 0;
  const base64 = lines.slice(blank).join('');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  return { type: first.slice(0, -TAIL.length), hasHeaders, bytes: Buffer.from(base64, 'base64') };
}
