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

/** Reasons that share their code with a more general one: 409 is a Conflict, 410 is Expired, 500 is an InternalError. */
const SPECIFIC: ReadonlySet<string> = new Set<Reason>([
  'AlreadyExists',
  'Gone',
  'ServerTimeout',
  'StorageReadError',
  'Unknown',
]);

const byCode = new Map<number, Reason>(
  (Object.keys(reasons) as Reason[])
    .filter((reason) => !SPECIFIC.has(reason))
    .map((reason) => [reasons[reason].code, reason]),
);

function reasonOf({ reason, code = 500 }: Partial<Status>): Reason {
  if (reason && Object.hasOwn(reasons, reason)) return reason as Reason;
  if (code === 502) return 'ServiceUnavailable';
  return byCode.get(code) ?? (code >= 500 ? 'InternalError' : 'BadRequest');
}
