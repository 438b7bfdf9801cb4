/** The values of literals. */
import { double, int, uint } from '../values/numbers.ts';
import type { Value } from '../values/value.ts';

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** Parses an integer; undefined when it is out of range. */
export function parseInt64(text: string): Value | undefined {
  const value = text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text);
  return value < MIN_INT || value > MAX_INT ? undefined : int(value);
}

/** Parses a literal such as `123u`. */
export function parseUint64(text: string): Value | undefined {
  const value = BigInt(text.slice(0, -1));
  return value > MAX_UINT ? undefined : uint(value);
}

export function parseDouble(text: string): Value | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? double(value) : undefined;
}

/** Parses a literal with its prefix and quotes; throws an Error for an invalid one. */
export function parseString(token: string): string {
  const { body, raw } = unquote(token);
  if (raw) return body;
  let text = '';
  forEachCharacter(body, {
    character: (part) => {
      text += part;
    },
    codePoint: (code) => {
      text += String.fromCodePoint(code);
    },
    octet: (code) => {
      text += String.fromCodePoint(code);
    },
  });
  return text;
}

export function parseBytes(token: string): Uint8Array {
  const { body, raw } = unquote(token);
  if (raw) return Buffer.from(body);
  const parts: Buffer[] = [];
  forEachCharacter(body, {
    character: (part) => parts.push(Buffer.from(part)),
    codePoint: () => {
      throw new Error('unable to unescape string');
    },
    octet: (code) => parts.push(Buffer.of(code)),
  });
  return new Uint8Array(Buffer.concat(parts));
}

function unquote(token: string): { body: string; raw: boolean } {
  const prefix = /^[rRbB]*/.exec(token)![0];
  const width = /^[rRbB]*(?:"""|''')/.test(token) ? 3 : 1;
  const body = token.slice(prefix.length + width, token.length - width).replace(/\r\n?/g, '\n');
  return { body, raw: /[rR]/.test(prefix) };
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};

interface Sink {
  character(text: string): void;
  /** `\u` and `\U`. */
  codePoint(code: number): void;
  /** `\x` and octal. */
  octet(code: number): void;
}

const ESCAPE = /\\(?:([abfnrtv\\'"`?])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[xX]([0-9a-fA-F]{2})|([0-3][0-7]{2}))/y;

function forEachCharacter(body: string, sink: Sink): void {
  let at = 0;
  while (at < body.length) {
    const next = body.indexOf('\\', at);
    if (next !== at) {
      sink.character(body.slice(at, next === -1 ? undefined : next));
      if (next === -1) return;
    }
    ESCAPE.lastIndex = next;
    const found = ESCAPE.exec(body);
    if (found === null) throw new Error('unable to unescape string');
    const [whole, simple, short, long, hex, octal] = found;
    if (simple !== undefined) sink.character(SIMPLE_ESCAPES[simple]!);
    else if (short !== undefined || long !== undefined) sink.codePoint(validCodePoint(short ?? long!));
    else sink.octet(hex !== undefined ? Number.parseInt(hex, 16) : Number.parseInt(octal!, 8));
    at = next + whole.length;
  }
}

function validCodePoint(hex: string): number {
  const code = Number.parseInt(hex, 16);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new Error('unable to unescape string');
  return code;
}
