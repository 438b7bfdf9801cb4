/**
 * Names in messages. As text, a name is lower-case, without the final dot, and the root is empty; a dot or backslash
 * inside a label is escaped with a backslash, and other bytes are Latin-1 characters.
 */
import { MessageError } from './message-error.ts';

const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
const POINTER = 0xc0;
/** Limit for the pointers of one name, as many as labels: without it, 64 KB would take half a second to read. */
const MAX_POINTERS = 127;
const DOT = 0x2e;
const BACKSLASH = 0x5c;

/** Reads messages from start to end. Every read checks the bounds. */
export class NameReader {
  /** The position after the last name that was read. */
  end = 0;

  /** Reads the name at a position. Pointers must lead backwards, so that every name is finite. */
  read(bytes: Buffer, start: number): string {
    let position = start;
    let text = '';
    let length = 1;
    let lowest = start;
    let hasJumped = false;
    let pointers = 0;
    for (;;) {
      const size = bytes[position];
      if (size === undefined) throw new MessageError('a name ends outside of the message');
      if (size === 0) {
        if (!hasJumped) this.end = position + 1;
        return text;
      }
      if (size >= POINTER) {
        const low = bytes[position + 1];
        if (low === undefined) throw new MessageError('a name ends outside of the message');
        if (!hasJumped) this.end = position + 2;
        hasJumped = true;
        position = (size - POINTER) * 256 + low;
        if (++pointers > MAX_POINTERS) throw new MessageError('a name has too many pointers');
        if (position >= lowest) throw new MessageError('a pointer does not lead backwards');
        lowest = position;
        continue;
      }
      if (size > MAX_LABEL_BYTES) throw new MessageError('a label has an unknown type');
      length += size + 1;
      if (length > MAX_NAME_BYTES) throw new MessageError('a name is too long');
      const labelEnd = position + 1 + size;
      if (labelEnd > bytes.length) throw new MessageError('a label ends outside of the message');
      text += text === '' ? labelText(bytes, position + 1, labelEnd) : `.${labelText(bytes, position + 1, labelEnd)}`;
      position = labelEnd;
    }
  }
}

function labelText(bytes: Buffer, start: number, end: number): string {
  let isPlain = true;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if ((byte >= 0x41 && byte <= 0x5a) || byte === DOT || byte === BACKSLASH) {
      isPlain = false;
      break;
    }
  }
  if (isPlain) return bytes.toString('latin1', start, end);
  let text = '';
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === DOT || byte === BACKSLASH) text += '\\';
    text += String.fromCharCode(byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte);
  }
  return text;
}

/** Splits a name into its first label and its parent. */
export function splitName(name: string): { label: string; parent: string } {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === DOT) return { label: name.slice(0, i), parent: name.slice(i + 1) };
  }
  return { label: name, parent: '' };
}

/** Writes a label as its length and bytes, and returns the position after it. */
export function writeLabel(bytes: Buffer, start: number, label: string): number {
  let position = start + 1;
  for (let i = 0; i < label.length; i++) {
    if (label.charCodeAt(i) === BACKSLASH) i++;
    bytes[position++] = label.charCodeAt(i);
  }
  bytes[start] = position - start - 1;
  return position;
}

/** Converts a name of the API to the form used in messages; undefined when DNS cannot express it. */
export function nameFrom(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, '');
  const isValid = name.length < MAX_NAME_BYTES - 1 && /^[\x21-\x7e]+$/.test(name) && !name.includes('\\');
  const hasLabels = name.split('.').every((label) => label.length > 0 && label.length <= MAX_LABEL_BYTES);
  return isValid && hasLabels ? name : undefined;
}

/** Encodes a name without compression, as in the data of records. */
export function nameBytes(name: string): Buffer {
  const bytes = Buffer.allocUnsafe(MAX_NAME_BYTES);
  let position = 0;
  let rest = name;
  while (rest !== '') {
    const { label, parent } = splitName(rest);
    position = writeLabel(bytes, position, label);
    rest = parent;
  }
  bytes[position] = 0;
  return Buffer.from(bytes.subarray(0, position + 1));
}
