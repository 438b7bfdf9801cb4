/** Decides whether a container that has exited is restarted. */
import type { PodSpec } from '../pod/pod-spec.ts';

type Policy = 'Always' | 'OnFailure' | 'Never';

interface RestartRule {
  readonly action?: string;
  readonly exitCodes?: { readonly operator: string; readonly values?: readonly number[] };
}

/** The part of a container that decides it. */
interface Restartable {
  readonly restartPolicy?: Policy;
  readonly restartPolicyRules?: readonly RestartRule[];
}

/** The container's rules apply first, then its restart policy, then the pod's. */
export function mayRestart(
  container: Restartable,
  spec: { readonly restartPolicy: Policy },
  exitCode: number,
): boolean {
  const { restartPolicy } = container;
  if (matchingRule(container, exitCode)) return true;
  switch (restartPolicy ?? spec.restartPolicy) {
    case 'Always':
      return true;
    case 'OnFailure':
      return exitCode !== 0;
    case 'Never':
      return false;
  }
}

/** The first rule counts. */
function matchingRule({ restartPolicy, restartPolicyRules }: Restartable, exitCode: number): RestartRule | undefined {
  if (!restartPolicy) return undefined;
  return restartPolicyRules?.find(({ exitCodes }) => exitCodes && holds(exitCodes, exitCode));
}

/** Reports whether this exit restarts all containers of the pod. */
export function restartsAll(container: Restartable, exitCode: number): boolean {
  return matchingRule(container, exitCode)?.action === RESTART_ALL;
}

const RESTART_ALL = 'RestartAllContainers';

function holds({ operator, values = [] }: { operator: string; values?: readonly number[] }, exitCode: number): boolean {
  return operator === 'In' ? values.includes(exitCode) : operator === 'NotIn' && !values.includes(exitCode);
}

/** Reports whether the exit of one container can restart all of them, whatever their own policies. */
export function mayRestartAll({ containers = [], initContainers = [] }: PodSpec): boolean {
  return [...containers, ...initContainers].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === RESTART_ALL),
  );
}
