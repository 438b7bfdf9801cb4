/** Errors of HTTP itself, and of the media types and sizes of bodies. */
import { ApiError, type Status } from '../../../api/errors.ts';

/** An error of HTTP for which the Kubernetes API has no reason. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly code: 408 | 414,
    message: string,
  ) {
    super(message);
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: REASONS[this.code],
      code: this.code,
    };
  }
}

const REASONS = { 408: 'RequestTimeout', 414: 'RequestURITooLong' } as const;

export const notAcceptable = (accepted: readonly string[]) =>
  new ApiError('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

export const unsupportedMediaType = (accepted: readonly string[]) =>
  new ApiError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

export const tooLarge = (maxBytes: number) =>
  new ApiError('RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`);

/** Thrown when the client has disconnected, so that no response can be sent. */
export class Disconnected extends Error {
  override readonly name = 'Disconnected';
}
