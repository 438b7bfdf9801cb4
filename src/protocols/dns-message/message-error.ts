export class MessageError extends Error {
  override readonly name = 'MessageError';
}
