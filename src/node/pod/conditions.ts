/** Computes the conditions of a pod's status. */

import { timestamp } from '../../base/time/timestamp.ts';
import { mayRestartAll } from '../../kinds/shapes/container/restart.ts';
import type { PodSpec } from '../../kinds/shapes/pod/pod-spec.ts';
import { type ContainerRun, hasStarted, isDone, isReady, type SeenPod } from './container-run.ts';
import { isTerminalPhase, type Phase } from './phase.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly observedGeneration?: number | undefined;
  readonly lastTransitionTime: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** In the order of the status. */
const CONDITION_TYPES = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
] as const;
type Type = (typeof CONDITION_TYPES)[number];

interface ConditionResult {
  readonly holds: boolean;
  readonly reason?: string;
  readonly message?: string;
}

export interface Observed {
  readonly pod: SeenPod;
  readonly phase: Phase;
  readonly runs: readonly ContainerRun[];
  /** True when the pod has its sandbox: its network and address. */
  readonly hasSandbox: boolean;
  readonly now: number;
  /** Missing isolation of the containers, as a sentence. */
  readonly limitation?: string | undefined;
  /** A change of resources that is not done. */
  readonly resize?: Resize | undefined;
  /** True while all containers are removed to start over. */
  readonly isRestartingAll?: boolean;
  /** Why an ended pod was ended for the sake of the node. */
  readonly disruption?: string | undefined;
}

interface Resize {
  readonly type: 'PodResizePending' | 'PodResizeInProgress';
  readonly reason?: string;
  readonly message?: string;
}

const RESTARTING: ConditionResult = {
  holds: true,
  reason: 'RestartAllContainersStarted',
  message: 'container exited with restart policy rule',
};
const TRUE: ConditionResult = { holds: true };
const FALSE: ConditionResult = { holds: false };

/**
 * Returns all conditions that the kubelet owns; those of a resize only while it is not done. The transition time changes only
 * with the status.
 */
export function conditionsOf(observed: Observed, before: readonly Condition[]): Condition[] {
  const { pod, now } = observed;
  const containers = containersReady(observed);
  const results: Record<Type, ConditionResult> = {
    PodReadyToStartContainers: sandboxReady(observed),
    Initialized: initialized(observed),
    Ready: containers.holds ? readinessGates(pod) : containers,
    ContainersReady: containers,
    PodScheduled: TRUE,
  };
  const { generation } = pod.metadata;
  const condition = (type: string, { holds, reason, message }: ConditionResult): Condition => {
    const status = holds ? 'True' : 'False';
    const old = before.find((each) => each.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timestamp(now);
    return { type, observedGeneration: generation || undefined, status, lastTransitionTime, reason, message };
  };
  const conditions = CONDITION_TYPES.map((type) => condition(type, results[type]));
  if (observed.resize) {
    const { type, ...why } = observed.resize;
    conditions.push(condition(type, { holds: true, ...why }));
  }
  if (mayRestartAll(pod.spec as PodSpec)) {
    const isRestarting = observed.isRestartingAll === true && !isTerminalPhase(observed.phase);
    conditions.push(condition('AllContainersRestarting', isRestarting ? RESTARTING : FALSE));
  }
  if (observed.disruption !== undefined) {
    const why = { reason: 'TerminationByKubelet', message: observed.disruption };
    conditions.push(condition('DisruptionTarget', { holds: true, ...why }));
  }
  return conditions;
}

function sandboxReady({ hasSandbox, limitation }: Observed): ConditionResult {
  if (!hasSandbox) return FALSE;
  return limitation === undefined ? TRUE : { holds: true, reason: 'LimitedIsolation', message: limitation };
}

function containersReady({ phase, runs }: Observed): ConditionResult {
  if (isTerminalPhase(phase)) return { holds: false, reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted' };
  const unready = runs.filter((run) => (run.role === 'main' || run.role === 'sidecar') && !isReady(run));
  if (unready.length === 0) return TRUE;
  return { holds: false, reason: 'ContainersNotReady', message: `containers with unready status: ${names(unready)}` };
}

function initialized({ phase, runs }: Observed): ConditionResult {
  if (phase === 'Succeeded') return { holds: true, reason: 'PodCompleted' };
  if (runs.some((run) => run.role === 'main' && hasStarted(run))) return TRUE;
  const waiting = runs.filter((run) => (run.role === 'init' || run.role === 'sidecar') && !isDone(run));
  if (waiting.length === 0) return TRUE;
  const message = `containers with incomplete status: ${names(waiting)}`;
  return { holds: false, reason: 'ContainersNotInitialized', message };
}

/** Evaluates the readiness gates, which other components open. */
function readinessGates({ spec, status }: SeenPod): ConditionResult {
  if (!spec.readinessGates) return TRUE;
  const conditions = new Map(status.conditions?.map((condition) => [condition.type, condition]));
  const closed = spec.readinessGates.flatMap(({ conditionType: type }) => {
    const found = conditions.get(type);
    if (!found) return [`corresponding condition of pod readiness gate "${type}" does not exist.`];
    return found.status === 'True'
      ? []
      : [`the status of pod readiness gate "${type}" is not "True", but ${found.status}`];
  });
  return closed.length === 0 ? TRUE : { holds: false, reason: 'ReadinessGatesNotReady', message: closed.join(', ') };
}

const names = (runs: readonly ContainerRun[]) => `[${runs.map(({ name }) => name).join(' ')}]`;
