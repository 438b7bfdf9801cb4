/**
 * Advances a pod on a simulated node: lets happen what is due in its runtime, and performs what the plan says, until nothing
 * is left to do now. It depends only on the pod's life and the context, where time, randomness and addresses come from.
 */
import { isTerminalPhase } from '../../pod/phase.ts';
import { planPod } from '../../pod/plan/plan-pod.ts';
import { begin } from '../../pod/plan/record.ts';
import { reachedIn, reportedPhase, type WasReached } from '../../pod/plan/report.ts';
import { advanceRun, nextStep, planOutcome, show } from './advance-container.ts';
import type { LifecycleContext } from './context.ts';
import { createSandbox, perform } from './perform.ts';
import { addRuns, type PodLife } from './pod-life.ts';

/** Advances the pod to now; returns whether anything changed. */
export function advancePod(life: PodLife, context: LifecycleContext): boolean {
  const { now } = context;
  const isEnded = isTerminalPhase(life.phase) && !life.pod.metadata.deletionTimestamp;
  if (life.isTerminated || isEnded) return false;
  let changed = addRuns(life, now);
  for (const run of life.runs) if (!run.isPlanned) planOutcome(life, run, context);
  if (createSandbox(life, context)) changed = true;
  for (const run of life.runs) if (advanceRun(life, run, context)) changed = true;
  while (planOnce(life, context)) changed = true;
  let wasReached: WasReached | undefined;
  for (const run of life.runs) {
    if (!run.isStale && now < run.shownUntil) continue;
    wasReached ??= reachedIn(life.pod, life.state);
    show(life, run, now, wasReached);
    changed = true;
  }
  if (changed) update(life);
  return changed;
}

/** Plans, and performs what is planned; returns whether there was something. */
function planOnce(life: PodLife, context: LifecycleContext): boolean {
  const { state, pod } = life;
  const { now } = context;
  const plan = planPod(pod, state, now);
  begin(state, plan, now);
  life.nextAt = plan.nextAt;
  for (const event of plan.events) context.emit(life, { type: 'planned', event });
  for (const action of plan.actions) perform(life, action, context);
  // Everything that is not running looks different in a pod that ends.
  if (plan.decisions.some(({ type }) => type === 'stop' || type === 'end'))
    for (const run of life.runs) run.isStale = true;
  life.isTerminated = plan.isFinished;
  return plan.actions.length > 0 || plan.decisions.length > 0;
}

/** Brings what the status of the pod shows up to date. */
function update(life: PodLife): void {
  const { pod, state } = life;
  life.hasSandbox = state.endPhase === undefined && state.sandboxes.length > 0;
  life.phase = reportedPhase(pod, state);
  life.failure = state.endPhase && state.failure;
}

/** Returns when the next step is due; undefined when nothing is until the pod is changed. */
export function nextDue(life: PodLife): number | undefined {
  if (life.isTerminated || isEndedAndKept(life)) return undefined;
  let next = life.nextAt ?? Number.POSITIVE_INFINITY;
  if (life.sandboxAction) next = Math.min(next, life.sandboxAt);
  if (life.stopsAt !== undefined) next = Math.min(next, life.stopsAt);
  for (const run of life.runs) {
    const step = nextStep(run);
    if (step < next) next = step;
  }
  return next === Number.POSITIVE_INFINITY ? undefined : next;
}

const isEndedAndKept = ({ phase, pod }: PodLife) => isTerminalPhase(phase) && !pod.metadata.deletionTimestamp;
