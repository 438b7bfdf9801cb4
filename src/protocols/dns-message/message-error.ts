/** A message does not follow the format. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}
