/** A body that cannot be read. Who reads it knows how to say so: the words depend on what the body was for. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
