/** A protocol violation by the peer; the session ends. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError';
}

/** A stream that the peer, or the end of the session, ended before it was complete. */
export class StreamResetError extends Error {
  override readonly name = 'StreamResetError';

  constructor(
    message: string,
    /** A `ResetCode`; undefined if the whole session ended. */
    readonly resetCode: number | undefined = undefined,
  ) {
    super(message);
  }
}
