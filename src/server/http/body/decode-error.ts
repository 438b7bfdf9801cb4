/** A body that cannot be decoded. Becomes a BadRequest whose wording depends on what the body was for. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
