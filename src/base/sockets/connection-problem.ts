const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', 'it closed the connection'],
  ['EPIPE', 'it closed the connection'],
  ['EHOSTUNREACH', 'there is no route to it'],
  ['ENETUNREACH', 'there is no route to it'],
  ['ETIMEDOUT', 'the connection timed out'],
  ['ENOTFOUND', 'its name is unknown'],
  ['EAI_AGAIN', 'its name could not be looked up'],
  ['EPROTO', 'it does not speak TLS'],
]);

/** Explains in one clause why a server could not be reached. System messages are codes, or lines of OpenSSL. */
export function connectionProblem(error: unknown): string {
  const { code, message, reason } = error as Error & { readonly code?: unknown; readonly reason?: string };
  if (typeof code !== 'string') return message;
  const meaning = meaningOf(code, reason) ?? message;
  return meaning.includes(code) ? meaning : `${meaning} (${code})`.trim();
}

function meaningOf(code: string, reason: string | undefined): string | undefined {
  if (code.startsWith('HPE_')) return 'it does not speak HTTP';
  if (/^ERR_O?SSL_/.test(code) && reason) return `TLS failed: ${reason}`;
  return MEANINGS.get(code);
}
