/** The outcome of a Job's pod. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenJob, SeenPod } from '../../../api/seen-objects.ts';
import type { Job } from '../../../kinds/groups/batch/job.ts';

export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';

/** Reports whether a terminating pod counts as failed, and is replaced, only when it has terminated. */
export const waitsForTheEnd = ({ spec }: SeenJob): boolean =>
  spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;

export const hasSucceeded = ({ status }: SeenPod): boolean => status.phase === 'Succeeded';

/** A terminating pod may never report that it failed: its node may be gone. */
export function hasFailed(pod: SeenPod, job: SeenJob): boolean {
  if (pod.status.phase === 'Failed') return true;
  return pod.metadata.deletionTimestamp !== undefined && !hasSucceeded(pod) && !waitsForTheEnd(job);
}

/** Returns undefined when it has no valid index. */
export function completionIndex({ metadata }: SeenPod): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

export const isIndexed = ({ spec }: SeenJob): boolean => spec.completionMode === 'Indexed';

/** Reports whether the pod counts. In an indexed Job, only pods with an index of the Job do. */
export function isCountable(pod: SeenPod, job: SeenJob): boolean {
  return !isIndexed(job) || (completionIndex(pod) ?? Number.POSITIVE_INFINITY) < (job.spec.completions ?? 0);
}

/** Returns when the pod ended, in milliseconds, as far as can be determined. */
export function finishedAt(pod: SeenPod): number {
  const { metadata, status } = pod;
  const ended = lastContainerEnd(pod);
  if (ended !== undefined) return ended;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'False' && ready.lastTransitionTime) return Date.parse(ready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp = '' } = metadata;
  if (deletionTimestamp) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Date.parse(creationTimestamp);
}

/** The last end of the main containers; undefined while one of them runs. */
function lastContainerEnd({ spec, status }: SeenPod): number | undefined {
  const sidecars = new Set(
    spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const statuses = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const times = statuses.map(({ state }) => state?.terminated?.finishedAt);
  if (times.length === 0 || times.some((time) => !time)) return undefined;
  return Math.max(...times.map((time) => Date.parse(time as string)));
}

type Policy = NonNullable<DeepReadonly<Job>['spec']['podFailurePolicy']>;
type Rule = Policy['rules'][number];

interface FailureResult {
  /** True when the failure counts towards the limits. */
  readonly counts: boolean;
  /** True when its index has failed with it. */
  readonly failsIndex: boolean;
  /** Why the whole Job has failed with it. */
  readonly failsJob?: string;
}

const COUNTED: FailureResult = { counts: true, failsIndex: false };

export function judge(policy: Policy | undefined, pod: SeenPod): FailureResult {
  for (const [index, rule] of policy?.rules.entries() ?? []) {
    const found = whatFits(rule, pod);
    if (found === undefined) continue;
    if (rule.action === 'Ignore') return { counts: false, failsIndex: false };
    if (rule.action === 'FailIndex') return { counts: true, failsIndex: true };
    if (rule.action !== 'FailJob') return COUNTED;
    return { ...COUNTED, failsJob: `${found} matching FailJob rule at index ${index}` };
  }
  return COUNTED;
}

/** Describes the part of the pod that the rule matched. */
function whatFits({ onExitCodes, onPodConditions }: Rule, { metadata, status }: SeenPod): string | undefined {
  const pod = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes) {
    const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
    for (const { name, state } of statuses) {
      const code = state?.terminated?.exitCode;
      if (!code || (onExitCodes.containerName ?? name) !== name) continue;
      if (onExitCodes.values.includes(code) === (onExitCodes.operator === 'In')) {
        return `Container ${name} for pod ${pod} failed with exit code ${code}`;
      }
    }
    return undefined;
  }
  const condition = status.conditions?.find((each) =>
    onPodConditions?.some((pattern) => pattern.type === each.type && pattern.status === each.status),
  );
  return condition && `Pod ${pod} has condition ${condition.type}`;
}
