/** The status of a Job, and events about it. */

import type { SeenJob } from '../../../api/seen-objects.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { type Action, event } from '../../loop/plan.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import type { Account } from './accounting.ts';
import { type Ending, withEnding, withSuspension } from './conditions.ts';
import type { Steps } from './sizing.ts';
import type { Tally } from './tally.ts';

type Status = SeenJob['status'];

export interface StatusInput {
  readonly account: Account;
  readonly steps: Steps;
  readonly ending: Ending | undefined;
  /** True when the Job was running so far: suspension matters only then. */
  readonly isOpen: boolean;
  readonly now: Date;
}

export interface EventReport {
  readonly status: Status;
  /** Recorded once the status is written. */
  readonly events: readonly Action[];
}

export function statusOf(tally: Tally, { account, steps, ending, isOpen, now }: StatusInput): EventReport {
  const { job, indexes } = tally;
  const counts = countsOf(tally, steps);
  const { noted, settled } = account;
  const isDone =
    ending !== undefined &&
    settled.length + noted.succeeded.length + noted.failed.length + counts.active + counts.terminating === 0;
  const { conditions: present = [], startTime, completionTime } = job.status;
  // A Job that ends without having been resumed has started, too: the server requires it unless there was nothing to
  // do.
  const isUnstarted = job.spec.suspend && (ending === undefined || job.spec.completions === 0);
  const start = startTime ?? (isUnstarted ? undefined : timestamp(now));
  const suspension = isOpen && !ending && !job.metadata.deletionTimestamp ? suspensionOf(job, now) : undefined;
  const conditions = ending ? withEnding(present, ending, { isDone, now }) : (suspension?.conditions ?? present);
  const succeeded = indexes?.succeeded.size ?? account.succeeded;
  const status: Status = {
    conditions: conditions.length > 0 ? conditions : undefined,
    startTime: suspension ? suspension.startTime : start,
    completionTime: isDone && ending.outcome === 'Complete' ? timestamp(now) : completionTime,
    active: shown(counts.active),
    succeeded: shown(succeeded),
    failed: shown(account.failed),
    terminating: counts.terminating,
    completedIndexes: indexes?.succeeded.toString() || undefined,
    failedIndexes: indexes?.failed?.toString(),
    uncountedTerminatedPods: {
      succeeded: noted.succeeded.length > 0 ? noted.succeeded : undefined,
      failed: noted.failed.length > 0 ? noted.failed : undefined,
    },
    ready: counts.ready,
  } as Status;
  const events = isDone ? endingEvents(job, ending, succeeded) : (suspension?.events ?? []);
  return { status, events };
}

/** The counts if the actions succeed. */
function countsOf(tally: Tally, { created, deleted }: Steps) {
  return {
    active: tally.active.length + created - deleted.length,
    ready: tally.ready - deleted.filter(isReady).length,
    terminating: tally.terminating + deleted.length,
  };
}

/** Zero is omitted. */
const shown = (count: number) => count || undefined;

/** A suspended Job has no start time; a resumed one starts again, and with it its deadline. */
function suspensionOf(job: SeenJob, now: Date) {
  const isSuspended = job.spec.suspend === true;
  const conditions = withSuspension(job.status.conditions ?? [], isSuspended, now);
  if (!conditions) return undefined;
  const [reason, message] = isSuspended ? ['Suspended', 'Job suspended'] : ['Resumed', 'Job resumed'];
  const events = [event(job, 'Normal', reason, message)];
  return { conditions, events, startTime: isSuspended ? undefined : timestamp(now) };
}

function endingEvents(job: SeenJob, { outcome, reason, message }: Ending, succeeded: number): readonly Action[] {
  if (outcome === 'Failed') return [event(job, 'Warning', reason, message)];
  const words = 'Too many succeeded pods running after completion count reached';
  const isTooMuch = succeeded > (job.spec.completions ?? Number.POSITIVE_INFINITY);
  return [
    ...(isTooMuch ? [event(job, 'Warning', 'TooManySucceededPods', words)] : []),
    event(job, 'Normal', 'Completed', 'Job completed'),
  ];
}
