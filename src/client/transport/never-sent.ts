/** Codes of errors for connections that were never made: the server has not seen the request. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);

/** Reports whether a request failed because no server could be reached. */
export function wasNeverSent(error: unknown): boolean {
  const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
  return NEVER_SENT.has(cause?.code ?? '');
}
