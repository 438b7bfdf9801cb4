/** Limit above the length of any error message. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Reads an error message, up to the limit, and closes the stream. */
export async function errorText(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  // Leaving the loop destroys the stream.
  for await (const part of stream) {
    parts.push(part);
    length += part.length;
    if (length >= MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(parts).toString('utf8', 0, MAX_ERROR_BYTES);
}
