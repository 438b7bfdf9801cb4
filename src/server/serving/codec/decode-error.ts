/** A body that cannot be decoded. Becomes a BadRequest whose message depends on the purpose of the body. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';

  /** `redacted`: the message without parts of the body. */
  constructor(
    message: string,
    cause?: unknown,
    readonly redacted = message,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
