/** Applies the pod failure policy: the first rule that matches decides. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import type { Job } from '../../../kinds/groups/batch/job.ts';

type Policy = NonNullable<DeepReadonly<Job>['spec']['podFailurePolicy']>;
type Rule = Policy['rules'][number];

export interface FailureResult {
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
