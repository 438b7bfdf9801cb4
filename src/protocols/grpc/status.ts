import { ErrorCode } from './frames.ts';

export const GrpcStatus = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** A failed call. `code` is one of GrpcStatus, or another one that the server chose. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  constructor(
    readonly code: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Returns the status for a response that is not gRPC. */
export function statusOfHttp(status: string | undefined): number {
  switch (status) {
    case '400':
      return GrpcStatus.INTERNAL;
    case '401':
      return GrpcStatus.UNAUTHENTICATED;
    case '403':
      return GrpcStatus.PERMISSION_DENIED;
    case '404':
      return GrpcStatus.UNIMPLEMENTED;
    case '429':
    case '502':
    case '503':
    case '504':
      return GrpcStatus.UNAVAILABLE;
    default:
      return GrpcStatus.UNKNOWN;
  }
}

/** Returns the status for a stream that the peer has reset. */
export function statusOfReset(code: number): number {
  switch (code) {
    case ErrorCode.REFUSED_STREAM:
      return GrpcStatus.UNAVAILABLE;
    case ErrorCode.CANCEL:
      return GrpcStatus.CANCELLED;
    case ErrorCode.ENHANCE_YOUR_CALM:
      return GrpcStatus.RESOURCE_EXHAUSTED;
    case ErrorCode.INADEQUATE_SECURITY:
      return GrpcStatus.PERMISSION_DENIED;
    default:
      return GrpcStatus.INTERNAL;
  }
}
