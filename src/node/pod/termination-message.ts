/** How much of what its containers said at their end a pod's status shows. */

/** Of one container, and of all together, in bytes. */
const LONGEST = 4096;
const TOGETHER = 12 * 1024;

/** How many bytes each of so many containers has. */
export function messageRoom(containers: number): number {
  return Math.min(LONGEST, Math.floor(TOGETHER / Math.max(1, containers)));
}

/** As much of its beginning as there is room for, without half a character. */
export function fitting(message: string, room: number): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= room) return message;
  let end = room;
  while (end > 0 && (bytes[end]! & 0b1100_0000) === 0b1000_0000) end--;
  return bytes.toString('utf8', 0, end);
}
