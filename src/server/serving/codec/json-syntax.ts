/**
 * Describes the syntax error in a text, with the messages of Go's encoding/json. Only for texts that JSON.parse has rejected:
 * it is slow, but does not recurse.
 */
export function describeSyntaxError(bytes: Buffer): string {
  return new SyntaxChecker(bytes).describe();
}

const END = 'unexpected end of JSON input';
const ESCAPES = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));
const LITERALS: ReadonlyMap<string, string> = new Map([
  ['t', 'true'],
  ['f', 'false'],
  ['n', 'null'],
]);

/** Thrown and caught only in this file. */
class SyntaxFault extends Error {}

class SyntaxChecker {
  #at = 0;
  /** The open brackets, innermost last. */
  readonly #open: ('{' | '[')[] = [];

  constructor(private readonly bytes: Buffer) {}

  describe(): string {
    try {
      this.#value();
      while (this.#open.length > 0) this.#afterValue();
      this.#space();
      if (this.#at < this.bytes.length) this.#fail('after top-level value');
      return 'invalid JSON';
    } catch (error) {
      if (error instanceof SyntaxFault) return error.message;
      throw error;
    }
  }

  /** Reads a scalar, preceded by any opening brackets, or an empty pair of brackets. */
  #value(): void {
    for (;;) {
      this.#space();
      const char = this.#peek();
      if (char === '{') {
        this.#at++;
        this.#open.push('{');
        this.#space();
        if (this.#peek() === '}') return;
        this.#key();
      } else if (char === '[') {
        this.#at++;
        this.#open.push('[');
        this.#space();
        if (this.#peek() === ']') return;
      } else {
        this.#scalar(char);
        return;
      }
    }
  }

  /** Continues after a value: closes brackets or starts the next value. */
  #afterValue(): void {
    this.#space();
    const char = this.#peek();
    const inObject = this.#open.at(-1) === '{';
    if (char === (inObject ? '}' : ']')) {
      this.#at++;
      this.#open.pop();
    } else if (char === ',') {
      this.#at++;
      if (inObject) {
        this.#space();
        this.#key();
      }
      this.#value();
    } else this.#fail(inObject ? 'after object key:value pair' : 'after array element');
  }

  #key(): void {
    if (this.#peek() !== '"') this.#fail('looking for beginning of object key string');
    this.#string();
    this.#space();
    if (this.#peek() !== ':') this.#fail('after object key');
    this.#at++;
  }

  #scalar(char: string): void {
    const literal = LITERALS.get(char);
    if (char === '"') this.#string();
    else if (literal) this.#literal(literal);
    else if (char === '-' || isDigit(char)) this.#number();
    else this.#fail('looking for beginning of value');
  }

  #string(): void {
    const { bytes } = this;
    this.#at++;
    for (; ; this.#at++) {
      // Most bytes of a body are inside strings.
      const byte = bytes[this.#at];
      if (byte === 0x22) break;
      if (byte === undefined || byte < 0x20) this.#fail('in string literal');
      if (byte !== 0x5c) continue;
      this.#at++;
      if (this.#peek() === 'u') {
        for (let i = 0; i < 4; i++) {
          this.#at++;
          if (!/[0-9a-fA-F]/.test(this.#peek())) this.#fail('in \\u hexadecimal character escape');
        }
      } else if (!ESCAPES.has(this.bytes[this.#at]!)) this.#fail('in string escape code');
    }
    this.#at++;
  }

  #literal(word: string): void {
    for (const expected of word) {
      if (this.#peek() !== expected) this.#fail(`in literal ${word} (expecting '${expected}')`);
      this.#at++;
    }
  }

  #number(): void {
    if (this.#peek() === '-') this.#at++;
    if (this.#peek() === '0') this.#at++;
    else this.#digits('in numeric literal');
    if (this.#is('.')) {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    if (this.#is('e') || this.#is('E')) {
      this.#at++;
      if (this.#is('+') || this.#is('-')) this.#at++;
      this.#digits('in exponent of numeric literal');
    }
  }

  #digits(where: string): void {
    if (!isDigit(this.#peek())) this.#fail(where);
    while (this.#at < this.bytes.length && isDigit(this.#peek())) this.#at++;
  }

  #space(): void {
    const { bytes } = this;
    for (;;) {
      const byte = bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at++;
    }
  }

  #is(char: string): boolean {
    return this.bytes[this.#at] === char.charCodeAt(0);
  }

  #peek(): string {
    const byte = this.bytes[this.#at];
    if (byte === undefined) throw new SyntaxFault(END);
    return String.fromCharCode(byte);
  }

  #fail(where: string): never {
    throw new SyntaxFault(`invalid character ${quote(this.#peek())} ${where}`);
  }
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9';
}

function quote(char: string): string {
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  return `'${JSON.stringify(char).slice(1, -1)}'`;
}
