/** What holds for a pod, in the words that an agent has for it. */

import { timestamp } from '../../base/timestamp.ts';
import { type ContainerRun, hasStarted, isReady, isThrough, type SeenPod } from './container-run.ts';
import { isOver, type Phase } from './phase.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly observedGeneration?: number | undefined;
  readonly lastTransitionTime: string;
  readonly reason?: string;
  readonly message?: string;
}

/** In the order in which they are shown. */
export const CONDITION_TYPES = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
] as const;
type Type = (typeof CONDITION_TYPES)[number];

interface Verdict {
  readonly holds: boolean;
  readonly reason?: string;
  readonly message?: string;
}

export interface Observed {
  readonly pod: SeenPod;
  readonly phase: Phase;
  readonly runs: readonly ContainerRun[];
  /** Whether the pod has its place: its address and what its containers share. */
  readonly sandbox: boolean;
  readonly now: number;
}

const HOLDS: Verdict = { holds: true };

/** All of an agent's conditions. One that stays as it was keeps the time since when it is so. */
export function conditionsOf(observed: Observed, before: readonly Condition[]): Condition[] {
  const { pod, now } = observed;
  const containers = containersReady(observed);
  const verdicts: Record<Type, Verdict> = {
    PodReadyToStartContainers: { holds: observed.sandbox },
    Initialized: initialized(observed),
    Ready: containers.holds ? gatesOpen(pod) : containers,
    ContainersReady: containers,
    PodScheduled: HOLDS,
  };
  return CONDITION_TYPES.map((type) => {
    const { holds, ...why } = verdicts[type];
    const status = holds ? 'True' : 'False';
    const old = before.find((each) => each.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timestamp(now);
    const { generation } = pod.metadata;
    return { type, ...(generation ? { observedGeneration: generation } : {}), status, lastTransitionTime, ...why };
  });
}

function containersReady({ phase, runs }: Observed): Verdict {
  if (isOver(phase)) return { holds: false, reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted' };
  const unready = runs.filter((run) => (run.role === 'main' || run.role === 'sidecar') && !isReady(run));
  if (unready.length === 0) return HOLDS;
  return { holds: false, reason: 'ContainersNotReady', message: `containers with unready status: ${names(unready)}` };
}

function initialized({ phase, runs }: Observed): Verdict {
  if (phase === 'Succeeded') return { holds: true, reason: 'PodCompleted' };
  if (runs.some((run) => run.role === 'main' && hasStarted(run))) return HOLDS;
  const waiting = runs.filter((run) => (run.role === 'init' || run.role === 'sidecar') && !isThrough(run));
  if (waiting.length === 0) return HOLDS;
  const message = `containers with incomplete status: ${names(waiting)}`;
  return { holds: false, reason: 'ContainersNotInitialized', message };
}

/** What others have to say before the pod counts as ready. */
function gatesOpen({ spec, status }: SeenPod): Verdict {
  const closed = (spec.readinessGates ?? []).flatMap(({ conditionType: type }) => {
    const found = status.conditions?.find((condition) => condition.type === type);
    if (!found) return [`corresponding condition of pod readiness gate "${type}" does not exist.`];
    return found.status === 'True'
      ? []
      : [`the status of pod readiness gate "${type}" is not "True", but ${found.status}`];
  });
  return closed.length === 0 ? HOLDS : { holds: false, reason: 'ReadinessGatesNotReady', message: closed.join(', ') };
}

const names = (runs: readonly ContainerRun[]) => `[${runs.map(({ name }) => name).join(' ')}]`;
