import { ApiError, type Reason, reasons, type Status, type StatusDetails } from '../api/errors.ts';
import { isTree, type Tree } from '../base/json/tree.ts';

/** Turns a Status from the network into the server's error: fields of the wrong type are dropped. */
export function errorOfStatus(status: unknown): ApiError {
  const { message, reason, code, details, metadata } = isTree(status) ? status : ({} as Tree);
  return new ApiError(
    reasonOf({
      reason: typeof reason === 'string' ? reason : undefined,
      code: typeof code === 'number' ? code : undefined,
    }),
    typeof message === 'string' ? message : 'the server gave no reason',
    {
      details: isTree(details) ? detailsOf(details) : undefined,
      metadata: isTree(metadata) ? metadata : undefined,
    },
  );
}

function detailsOf({ causes, ...rest }: Tree): StatusDetails {
  return { ...rest, ...(Array.isArray(causes) ? { causes: causes.filter(isTree) } : {}) };
}

/** The error for a response without a Status, such as a proxy's. `expected` names the content of a success. */
export function errorOfCode(code: number, text: string, expected = 'an object'): ApiError {
  const shown = text.trim().slice(0, 200);
  const note = code < 300 ? ` without ${expected}` : code < 400 ? ', a redirection, which is not followed' : '';
  return new ApiError(reasonOf({ code }), `the server answered ${code}${note}${shown ? `: ${shown}` : ''}`);
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

/** Codes of errors for connections that were never made: the server has not seen the request. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);

/** Reports whether a request failed because no server could be reached. */
export function wasNeverSent(error: unknown): boolean {
  const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
  return NEVER_SENT.has(cause?.code ?? '');
}
