/** How much of what its containers said at their end a pod's status shows. */

/** Of one container, and of all together, in bytes. */
const LONGEST = 4096;
const TOGETHER = 12 * 1024;

/** Of a log that stands for a message: so many lines of its end, and of those so many bytes. */
export const FALLBACK_LINES = 80;
const FALLBACK_BYTES = 2048;

/** How many bytes each of so many containers has. */
export function messageRoom(containers: number): number {
  return Math.min(LONGEST, Math.floor(TOGETHER / Math.max(1, containers)));
}

/** As much of its beginning as there is room for, without half a character. */
export function fitting(message: string, room: number): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= room) return message;
  let end = room;
  while (end > 0 && isInside(bytes[end]!)) end--;
  return bytes.toString('utf8', 0, end);
}

/** As much of the end of a log's last lines as may stand for a message, without half a character. */
export function endOfLog(lines: string): string {
  const bytes = Buffer.from(lines);
  let start = Math.max(0, bytes.length - FALLBACK_BYTES);
  while (start > 0 && start < bytes.length && isInside(bytes[start]!)) start++;
  return bytes.toString('utf8', start);
}

/** Whether a character goes on here, and does not begin. */
const isInside = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000;
