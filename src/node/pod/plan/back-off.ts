/** Delays before something that failed is tried again, in milliseconds. */

const INITIAL_DELAY_MS = 10_000;
const MAX_DELAY_MS = 300_000;
/** A container that ran this long starts over. */
const RESET_AFTER_MS = 600_000;

/** Returns the delay after that many failures in a row: 10 seconds, doubled after every failure, up to 5 minutes. */
export function delayAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** Math.min(failures - 1, 10));
}

/** Returns the delay before a restart. The first one is immediate. */
export function crashDelay(crashes: number, ranMs: number): number {
  return ranMs >= RESET_AFTER_MS ? 0 : delayAfter(crashes);
}

/** Counts a restart after a run of that length. */
export function crashesAfter(crashes: number, ranMs: number): number {
  return ranMs >= RESET_AFTER_MS ? 1 : crashes + 1;
}

/** How long a failed pull or start is shown with its own reason, before the back-off is. */
export const ERROR_SHOWN_MS = 1_000;

/** Until a start, a sandbox, or an image that is never pulled is tried again. */
export const RETRY_MS = 10_000;

const MIN_VOLUME_RETRY_MS = 500;
const MAX_VOLUME_RETRY_MS = 122_000;

export function volumeDelay(failures: number): number {
  return Math.min(MAX_VOLUME_RETRY_MS, MIN_VOLUME_RETRY_MS * 2 ** Math.min(failures - 1, 10));
}

/** Failures of images that are tried again without showing a back-off: nothing is asked of a registry. */
export const LOCAL_IMAGE_ERRORS: ReadonlySet<string> = new Set([
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
]);
