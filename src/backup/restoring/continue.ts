/** Revisions after a restore. */
import type { SavedMoment } from '../file/content.ts';

/** Clients know revisions from after the backup was taken; none of them may be used again. */
const REVISION_GAP = 1_000_000_000;
/** More than a cluster writes in a second, for long. */
const REVISIONS_PER_SECOND = 10_000;
const SECOND_MS = 1_000;

/**
 * Returns the revision that a restored cluster continues at. A backup that is restored again, later, leads to a higher one, so that clients
 * of the cluster that was restored first notice the change, too.
 */
export function continuedRevision({ revision, time }: SavedMoment, now: number): number {
  const seconds = Math.max(0, Math.floor((now - time) / SECOND_MS));
  return revision + REVISION_GAP + seconds * REVISIONS_PER_SECOND;
}
