/**
 * The header that frames the body of a forwarded request: its length, if the client sent one. Without such a header,
 * Node sends the body of a GET unframed, and the server takes it for the next request.
 */
export function bodyFraming(length: string | undefined): Record<string, string> {
  return length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length };
}
