/** The input does not fit the description. The message is what Kubernetes' own decoder says. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/**
 * A value of the wrong type, on its way up. Each object it leaves adds the field it came through, so that nothing has to
 * keep a path while all is well; the outermost turns it into a DecodeError.
 */
export class Mismatch extends Error {
  #shape = '';
  #path = '';

  constructor(
    readonly found: string,
    readonly wanted: string,
    readonly detail?: string,
  ) {
    super();
  }

  /** Notes the field that held the value; the innermost shape is the one that is named. */
  through(shape: string, field: string): this {
    this.#shape ||= shape;
    this.#path = this.#path ? `${field}.${this.#path}` : field;
    return this;
  }

  toDecodeError(): DecodeError {
    const where = this.#shape ? `struct field ${this.#shape}.${this.#path} of type` : 'value of type';
    const reason = this.detail ? `: ${this.detail}` : '';
    return new DecodeError(`json: cannot unmarshal ${this.found} into Go ${where} ${this.wanted}${reason}`);
  }
}

/** What a JSON value is called in messages. A number that is no fitting integer is shown. */
export function jsonWord(value: unknown, showNumber = false): string {
  switch (typeof value) {
    case 'number':
      return showNumber ? `number ${value}` : 'number';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return Array.isArray(value) ? 'array' : 'object';
  }
}
