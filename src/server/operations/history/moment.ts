/** Times as clients write them, as revisions. */
import type { Call } from '../../../api/call.ts';
import { badRequest } from '../../../api/errors.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { waitForRevision } from '../../objects/reads/freshness.ts';
import type { History } from '../ports.ts';

export type MomentPorts = Pick<Reader, 'cache'> & Pick<Tools, 'clock'> & Pick<History, 'archive'>;

/** A request that waits for a revision. */
export type Waiting = Pick<Call, 'options' | 'signal'>;

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/**
 * Resolves with the revision that a parameter names, which is the newest one at a time. Everything up to it is in the
 * archive then. Rejects with a BadRequest, or with ArchiveBegins.
 */
export async function revisionOf(
  core: MomentPorts,
  { name, text }: { readonly name: string; readonly text: string },
  waiting: Waiting,
): Promise<number> {
  if (/^[1-9]\d{0,15}$/.test(text)) {
    const revision = Number(text);
    await waitForRevision(core, revision, waiting);
    await core.archive.reached(revision);
    return revision;
  }
  const time = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    const found = JSON.stringify(text.slice(0, 100));
    throw badRequest(`${name}: expected a time such as 2030-01-01T12:00:00Z or a resourceVersion, found ${found}`);
  }
  const now = core.clock.now();
  if (time > now) {
    throw badRequest(`${name}: ${text} is in the future: it is ${new Date(now).toISOString()}`);
  }
  await newestRevision(core);
  return core.archive.revisionAt(time);
}

/** Resolves with the newest revision, once it is in the archive. */
export async function newestRevision({ cache, archive }: MomentPorts): Promise<number> {
  await cache.fresh();
  const { revision } = cache;
  await archive.reached(revision);
  return revision;
}
