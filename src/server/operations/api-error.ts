/** Turns failures of operations into API errors. */
import { ApiError, isApiError } from '../../api/errors.ts';
import { ArchiveBegins } from '../../store/archive/archive.ts';
import { StoreConflict, StoreFull, StorePaused, StoreUnavailable } from '../../store/store.ts';
import type { Tools } from '../objects/ports.ts';

/** The request as it is logged. */
interface FailedRequest {
  readonly verb: string;
  readonly apiVersion?: string;
  readonly plural?: string;
  readonly path?: string;
}

/** Time after which a pause in writes should be over. */
const RETRY_AFTER_PAUSE_SECONDS = 1;

/** `signal`: called only when needed, since most are created on demand. */
export function toApiError(
  core: Pick<Tools, 'log'>,
  error: unknown,
  request: FailedRequest,
  signal: () => AbortSignal | undefined,
): ApiError {
  if (isApiError(error)) return error;
  if (error instanceof ArchiveBegins) return new ApiError('Expired', error.message, { cause: error });
  if (error instanceof StoreUnavailable) {
    return new ApiError('ServiceUnavailable', `the store cannot be reached: ${error.message}`, {
      cause: error,
      // The request has waited for the store: clients such as kubectl would repeat it ten times before they report it.
      details: { retryAfterSeconds: 0 },
    });
  }
  if (error instanceof StorePaused) {
    const details = { retryAfterSeconds: RETRY_AFTER_PAUSE_SECONDS };
    return new ApiError('ServiceUnavailable', error.message, { cause: error, details });
  }
  if (error instanceof StoreFull) {
    return new ApiError('ServiceUnavailable', `the store has no room: ${error.message}`, { cause: error });
  }
  if (error instanceof StoreConflict) {
    const why = 'the object has been modified; please apply your changes to the latest version and try again';
    return new ApiError('Conflict', why, { cause: error });
  }
  if (signal()?.aborted) return new ApiError('Timeout', 'the request was given up', { cause: error });
  core.log.error('a request failed', { ...request, error });
  const why = error instanceof Error ? error.message : String(error);
  return new ApiError('InternalError', `Internal error occurred: ${why}`, { cause: error });
}
