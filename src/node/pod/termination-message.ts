/** Limits termination messages in the status of a pod. */

/** Limits in bytes: for one container, and for all containers of a pod. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_POD_BYTES = 12 * 1024;

/** Limits of a log excerpt that serves as a message: its last lines, and of those the last bytes. */
export const MAX_FALLBACK_LINES = 80;
const MAX_FALLBACK_BYTES = 2048;

/** Returns the limit for each container's message, in bytes. */
export function messageLimit(containers: number): number {
  return Math.min(MAX_MESSAGE_BYTES, Math.floor(MAX_POD_BYTES / Math.max(1, containers)));
}

/** Returns the start of the message, cut at a character boundary. */
export function truncated(message: string, maxBytes: number): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= maxBytes) return message;
  let end = maxBytes;
  while (end > 0 && isContinuation(bytes[end]!)) end--;
  return bytes.toString('utf8', 0, end);
}

/** Returns the end of the log's last lines, cut at a character boundary. */
export function endOfLog(lines: string): string {
  const bytes = Buffer.from(lines);
  let start = Math.max(0, bytes.length - MAX_FALLBACK_BYTES);
  while (start > 0 && start < bytes.length && isContinuation(bytes[start]!)) start++;
  return bytes.toString('utf8', start);
}

const isContinuation = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000;
