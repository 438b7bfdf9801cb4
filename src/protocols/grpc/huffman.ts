/** The Huffman code of HPACK (RFC 7541, appendix B). It is canonical, so it is determined by the lengths of its codes. */

/** The length in bits of each octet's code, as a digit in base 36. */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';

const MAX_CODE_BITS = 30;

/** Codes of one length: the first code, and the octets in the order of their codes. */
interface Codes {
  readonly first: number;
  readonly octets: readonly number[];
}

const codes: readonly Codes[] = byLength();

function byLength(): Codes[] {
  const lengths = [...LENGTHS].map((digit) => Number.parseInt(digit, 36));
  const found: Codes[] = [];
  let next = 0;
  for (let length = 0; length <= MAX_CODE_BITS; length++) {
    const octets = lengths.flatMap((each, octet) => (each === length ? [octet] : []));
    found.push({ first: next, octets });
    next = (next + octets.length) * 2;
  }
  return found;
}

/** Decodes octets, one character each; undefined for an invalid code. */
export function decodeHuffman(bytes: Buffer): string | undefined {
  let text = '';
  let code = 0;
  let length = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      if (++length > MAX_CODE_BITS) return undefined;
      const { first, octets } = codes[length] as Codes;
      const octet = octets[code - first];
      if (octet === undefined) continue;
      text += String.fromCharCode(octet);
      code = 0;
      length = 0;
    }
  }
  // The padding of the last byte is all ones.
  return length < 8 && code === 2 ** length - 1 ? text : undefined;
}
