/** Divides a federated Job: each cluster gets a part of the parallelism and of the completions, once. */
import type { AnyObject, DeepReadonly } from '../../../api/object-types.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import { JOB_PREFERENCES } from '../names.ts';
import { countIn, type FederatedKind, sums } from './federated-kind.ts';

type Seen = DeepReadonly<AnyObject>;

const parallelismOf = ({ spec }: Seen): number => countIn(spec?.parallelism, 1);

export const federatedJob: FederatedKind = {
  kind: Job,
  replicas: {
    annotation: JOB_PREFERENCES,
    of: parallelismOf,
    set(desired, replicas, { actual, before }) {
      const { completions, parallelism = 1 } = desired.spec;
      desired.spec.parallelism = replicas;
      // Completions cannot be changed later; a cluster completes its part of the work.
      if (actual) desired.spec.completions = actual.spec?.completions;
      else if (completions !== undefined && parallelism > 0) {
        const upTo = (share: number) => Math.floor((completions * share) / parallelism);
        desired.spec.completions = upTo(before + replicas) - upTo(before);
      }
      if (desired.spec.completions === undefined) delete desired.spec.completions;
    },
    isPlaced: isWorkGivenOut,
  },
  localize: localizeJob,
  isFixedByCreation: true,
  gather: gatherJob,
};

/** Reports whether the members have all of the work already: then a cluster that joins gets none of it. */
function isWorkGivenOut(federated: Seen, members: readonly Seen[]): boolean {
  const workOf = (job: Seen): number => countIn(job.spec?.completions, parallelismOf(job));
  return members.length > 0 && members.reduce((sum, job) => sum + workOf(job), 0) >= workOf(federated);
}

/** Labels that each cluster's own server puts on the pods of a job. */
const JOB_LABELS = ['controller-uid', 'job-name', 'batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name'];

function localizeJob(desired: AnyObject, actual: Seen | undefined): void {
  const { spec } = desired;
  if (spec.manualSelector) return;
  const { labels } = spec.template?.metadata ?? {};
  for (const label of JOB_LABELS) delete labels?.[label];
  if (!actual) {
    delete spec.selector;
    return;
  }
  spec.selector = actual.spec?.selector;
  spec.template = actual.spec?.template;
}

/** Counters never decrease. The Job is finished when all parts are: complete if every part is, failed otherwise. */
function gatherJob(members: readonly Seen[], federated: Seen): object {
  const old = federated.status ?? {};
  if (isFinished(federated)) return old;
  const counts = sums(members, ['active', 'ready', 'terminating']);
  const finished = sums([...members], ['succeeded', 'failed']);
  const kept = Object.fromEntries(
    ['succeeded', 'failed'].flatMap((field) => {
      const count = Math.max(finished[field] ?? 0, old[field] ?? 0);
      return finished[field] === undefined && old[field] === undefined ? [] : [[field, count]];
    }),
  );
  const startTime = old.startTime ?? earliest(members.map(({ status }) => status?.startTime));
  const status = { ...counts, ...kept, ...(startTime ? { startTime } : {}) };
  if (!isWorkGivenOut(federated, members) || !members.every(isFinished)) return status;
  const failed = members.find((job) => holds(job, 'Failed'));
  if (failed) return { ...status, conditions: conditionsOf(failed, ['FailureTarget', 'Failed']) };
  const last = members.reduce((a, b) => (completedAt(a) >= completedAt(b) ? a : b));
  return {
    ...status,
    completionTime: last.status?.completionTime,
    conditions: conditionsOf(last, ['SuccessCriteriaMet', 'Complete']),
  };
}

const completedAt = ({ status }: Seen) => Date.parse(status?.completionTime ?? '') || 0;

const holds = ({ status }: Seen, type: string): boolean =>
  (status?.conditions ?? []).some((each: AnyObject) => each.type === type && each.status === 'True');

const isFinished = (job: Seen) => holds(job, 'Complete') || holds(job, 'Failed');

/** Returns the conditions of the member for all of these types: a server demands the first of them with the second. */
function conditionsOf({ status }: Seen, types: readonly string[]): readonly object[] {
  const conditions: readonly AnyObject[] = status?.conditions ?? [];
  const found = (type: string) => conditions.find((each) => each.type === type && each.status === 'True');
  const any = types.map(found).find((each) => each !== undefined);
  return types.map((type) => ({ ...(found(type) ?? any), type }));
}

function earliest(times: readonly (string | undefined)[]): string | undefined {
  return times.filter((time) => time !== undefined).sort((a, b) => Date.parse(a) - Date.parse(b))[0];
}
