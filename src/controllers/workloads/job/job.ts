/**
 * Runs the pods of a Job until enough have succeeded, or too many have failed. A plan counts (tally.ts), decides on the
 * end (ending.ts), the number of pods (sizing.ts) and which are recorded (accounting.ts).
 */

import type { SeenJob } from '../../../api/seen-objects.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Controller, defineController, type Failure, type Snapshot } from '../../loop/define.ts';
import { type Action, changeStatus, event, type Plan, requeueAfter } from '../../loop/plan.ts';
import { claim, compiledSelector, type Ownership, observeAdoption, orphansOf } from '../../shared/ownership.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import { type Account, accountOf } from './accounting.ts';
import { FailureMemory, type Failures, NO_FAILURES } from './backoff.ts';
import { type Ending, isFinished, isManagedElsewhere, withEnding, withSuspension } from './conditions.ts';
import { deadlineOf, endingOf, successOf } from './ending.ts';
import { endActive, NO_STEPS, resize, type SizingContext, type Steps } from './sizing.ts';
import { type Tally, tallyOf } from './tally.ts';
import { TRACKING, trackedPods, untrack, untrackStrays } from './tracking.ts';

type World = Pick<Snapshot<Observed>, 'of' | 'key' | 'observed' | 'failures'>;

interface Observed {
  readonly mayAdopt: boolean;
  readonly failures: Failures;
}

const pods: Ownership<Job, Pod> = {
  owner: Job,
  kind: Pod,
  selector: ({ spec }) => compiledSelector(spec.selector),
  finalizers: [TRACKING],
};

export function jobController(): Controller {
  const memory = new FailureMemory();
  return defineController<Job, Observed>({
    name: 'job',
    account: 'job-controller',
    watches: Job,
    owns: [Pod],
    also: [orphansOf(pods), trackedPods],
    observe: async (job, world, tools) => {
      const key = `${world.key.namespace}/${world.key.name}`;
      if (!job || isFinished(job) || isManagedElsewhere(job)) {
        memory.forget(key);
        return { mayAdopt: false, failures: NO_FAILURES };
      }
      const failures = memory.note(key, job, world.of(Pod).controlledBy(job.metadata.uid ?? ''));
      return { mayAdopt: await observeAdoption(job, pods, { world, ...tools }), failures };
    },
    plan: planJob,
  });
}

export function planJob(job: SeenJob | undefined, world: World, now: Date): Plan {
  if (!job || isFinished(job) || isManagedElsewhere(job)) return untrackStrays(job, { ...world, adopted: [] });
  const claimed = claim(job, pods, { world, mayAdopt: world.observed.mayAdopt });
  const strays = untrackStrays(job, { ...world, adopted: claimed.mine });
  // An adopted pod has the finalizer only after the write; the next plan counts it.
  if (claimed.actions.length > 0) return [...claimed.actions, ...strays];
  return [...strays, ...progress(tallyOf(job, claimed.mine), world, now)];
}

function progress(tally: Tally, world: World, time: Date): readonly Action[] {
  const { observed, failures } = world;
  const { job } = tally;
  const now = time.getTime();
  const decided = endingOf(tally, now);
  const steps = stepsOf(tally, { decided, failures: observed.failures, now, world });
  // If an action failed before, the status is not written ahead of it.
  const isRetry = failures.some(isAboutPods);
  const done = isRetry ? NO_STEPS : steps;
  const left = tally.active.length + done.created - done.deleted.length;
  const isHeldUp = isRetry && steps.deleted.length > 0;
  const ending = decided ? (isHeldUp ? undefined : decided) : successOf(tally, left);
  const account = accountOf(tally, { ending, exempt: decided ? [] : done.deleted });
  const { status, events } = statusOf(tally, { account, steps: done, ending, isOpen: !decided, now: time });
  const writes = [...changeStatus(Job, job, status), ...events, ...account.settled.map(untrack)];
  const requeueAfterMs = ending ? [] : nextLook(tally, steps, now);
  return isRetry ? [...writes, ...steps.actions, ...requeueAfterMs] : [...steps.actions, ...writes, ...requeueAfterMs];
}

interface StepContext extends SizingContext {
  readonly decided: Ending | undefined;
}

function stepsOf(tally: Tally, { decided, ...context }: StepContext): Steps {
  if (decided) return endActive(tally);
  return tally.job.metadata.deletionTimestamp ? NO_STEPS : resize(tally, context);
}

function isAboutPods({ action }: Failure): boolean {
  return (action?.type === 'create' || action?.type === 'delete') && action.kind === Pod;
}

/** Plans again when only time brings new pods, or the end. After a deadline, the loop backs off. */
function nextLook({ job }: Tally, { requeueAfterMs }: Steps, now: number): readonly Action[] {
  const deadline = deadlineOf(job, now);
  const waits = [
    ...(requeueAfterMs === undefined ? [] : [requeueAfterMs]),
    ...(deadline === undefined || deadline <= now ? [] : [deadline - now]),
  ];
  return waits.length > 0 ? [requeueAfter(Math.min(...waits))] : [];
}

type Status = SeenJob['status'];

interface StatusInput {
  readonly account: Account;
  readonly steps: Steps;
  readonly ending: Ending | undefined;
  /** True when the Job was running so far: suspension matters only then. */
  readonly isOpen: boolean;
  readonly now: Date;
}

interface EventReport {
  readonly status: Status;
  /** Recorded once the status is written. */
  readonly events: readonly Action[];
}

function statusOf(tally: Tally, { account, steps, ending, isOpen, now }: StatusInput): EventReport {
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
