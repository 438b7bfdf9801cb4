import { ApiError, type Reason, reasons, type Status } from '../base/errors.ts';

/** A failure that the server described, as the error that was thrown inside it. */
export function errorOfStatus(status: Partial<Status>): ApiError {
  return new ApiError(reasonOf(status), status.message ?? 'the server gave no reason', {
    ...(status.details ? { details: status.details } : {}),
    ...(status.metadata ? { metadata: status.metadata } : {}),
  });
}

/** The answer has no Status: a proxy stands in between, or the server is something else. */
export function errorOfCode(code: number, text: string): ApiError {
  const shown = text.trim().slice(0, 200);
  return new ApiError(reasonOf({ code }), `the server answered ${code}${shown ? `: ${shown}` : ''}`);
}

const byCode = new Map<number, Reason>(
  // Of two reasons with one code the one that says less: 409 without more is a Conflict, 410 is Expired.
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
