import type { SeenCronJob } from '../../../api/seen-objects.ts';
import type { Client } from '../../../client/client.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import type { Listers } from '../../loop/define.ts';

/**
 * Returns the UIDs of Jobs that are active by the status and really gone. A cache may be behind the status, above all after a
 * start; therefore the server is asked.
 */
export async function goneJobs(
  { status, metadata }: SeenCronJob,
  { of }: Listers,
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const { namespace } = metadata;
  const gone = new Set<string>();
  for (const { name = '', uid = '' } of status.active ?? []) {
    if (of(Job).get(name, namespace)?.metadata.uid === uid) continue;
    const found = await client.of(Job).in(namespace).find(name, { signal });
    if (found?.metadata.uid !== uid) gone.add(uid);
  }
  return gone;
}

/**
 * Remembers since when CronJobs have their current schedule. When a schedule changes, earlier runs of the new one are not
 * started.
 */
export class ScheduleMemory {
  readonly #known = new Map<string, { readonly uid: unknown; readonly schedule: string; readonly since: number }>();

  /** Returns 0 when no change was seen. */
  note(key: string, { metadata, spec }: SeenCronJob, now: number): number {
    const { uid } = metadata;
    const schedule = `${spec.timeZone ?? ''} ${spec.schedule}`;
    const known = this.#known.get(key);
    if (known?.uid === uid && known?.schedule === schedule) return known.since;
    const since = known && known.uid === uid ? now : 0;
    this.#known.set(key, { uid, schedule, since });
    return since;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
