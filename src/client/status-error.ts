import { ApiError, type Reason, reasons, type Status } from '../base/errors.ts';

/** Turns a Status into the error that was thrown in the server. */
export function errorOfStatus(status: Partial<Status>): ApiError {
  return new ApiError(reasonOf(status), status.message ?? 'the server gave no reason', {
    ...(status.details ? { details: status.details } : {}),
    ...(status.metadata ? { metadata: status.metadata } : {}),
  });
}

/** For a response without a Status, for example from a proxy. */
export function errorOfCode(code: number, text: string): ApiError {
  const shown = text.trim().slice(0, 200);
  return new ApiError(reasonOf({ code }), `the server answered ${code}${shown ? `: ${shown}` : ''}`);
}

const byCode = new Map<number, Reason>(
  // Of reasons with the same code, the most general one: 409 is a Conflict, 410 is Expired, 500 is an InternalError.
  (Object.keys(reasons) as Reason[])
    .filter(
      (reason) =>
        reason !== 'AlreadyExists' && reason !== 'Gone' && reason !== 'ServerTimeout' && reason !== 'StorageReadError',
    )
    .map((reason) => [reasons[reason].code, reason]),
);

function reasonOf({ reason, code = 500 }: Partial<Status>): Reason {
  if (reason && Object.hasOwn(reasons, reason)) return reason as Reason;
  if (code === 502) return 'ServiceUnavailable';
  return byCode.get(code) ?? (code >= 500 ? 'InternalError' : 'BadRequest');
}
