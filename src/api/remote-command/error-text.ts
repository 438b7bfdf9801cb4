import type { Readable } from 'node:stream';

/** More than any message has. */
const MAX_ERROR_BYTES = 64 * 1024;

/** What a server says on an error stream, as far as it is of use: one that says more is not listened to. */
export async function errorText(stream: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  // Leaving the loop destroys the stream.
  for await (const part of stream as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length >= MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(parts).toString('utf8', 0, MAX_ERROR_BYTES);
}
