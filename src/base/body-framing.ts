/**
 * The header that tells where the body of a forwarded request ends: by its length if the client has said that. Without one, Node
 * sends the body of a GET as it is, and the server takes it for the next request.
 */
export function bodyFraming(length: string | undefined): Record<string, string> {
  return length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length };
}
