/** The input does not conform to the schema. The message is that of Kubernetes' decoder. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/**
 * A value of the wrong type, while it propagates. Each enclosing object adds its field to the path, so that decoding valid
 * input keeps no paths; `decode` turns it into a DecodeError.
 */
export class Mismatch extends Error {
  #shape = '';
  #path = '';

  constructor(
    readonly found: string,
    readonly expected: string,
    readonly detail?: string,
  ) {
    super();
  }

  /** Adds an enclosing field to the path; the message names the innermost shape. */
  within(shape: string, field: string): this {
    this.#shape ||= shape;
    this.#path = this.#path ? `${field}.${this.#path}` : field;
    return this;
  }

  toDecodeError(): DecodeError {
    const where = this.#shape ? `struct field ${this.#shape}.${this.#path} of type` : 'value of type';
    const reason = this.detail ? `: ${this.detail}` : '';
    return new DecodeError(`json: cannot unmarshal ${this.found} into Go ${where} ${this.expected}${reason}`);
  }
}

/** The name of a JSON value's type in messages, with the value of a number if `showNumber` is set. */
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
