/**
 * Advances a pod on a simulated node: lets happen what is due in its runtime, and performs what the plan says, until nothing
 * is left to do now. It depends only on the pod's life and the context, where time, randomness and addresses come from.
 */
import { isTerminalPhase } from '../../pod/phase.ts';
import type { Action } from '../../pod/plan/action.ts';
import { planPod } from '../../pod/plan/plan-pod.ts';
import { addSandbox, begin, finish } from '../../pod/plan/record.ts';
import { reachedIn, reportedPhase, type WasReached } from '../../pod/plan/report.ts';
import type { StopCause } from '../../pod/plan/state.ts';
import { sample } from '../rules/duration.ts';
import { advanceRun, end, nextStep, planOutcome, show, startContainer } from './advance-container.ts';
import type { LifecycleContext } from './context.ts';
import { pullImage } from './images.ts';
import { addRuns, type PodLife, type SimulatedRun, sandboxOf } from './pod-life.ts';

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

/** Performs the actions of a plan in memory. What takes time is foreseen here, and done when it is due. */
function perform(life: PodLife, action: Action, context: LifecycleContext): void {
  switch (action.type) {
    case 'run-sandbox':
      life.sandboxAction = action;
      createSandbox(life, context);
      break;
    case 'pull-image': {
      const run = life.runs[action.position]!;
      pullImage(life, run, action, context);
      advanceRun(life, run, context);
      break;
    }
    case 'start-container': {
      const run = life.runs[action.position]!;
      startContainer(life, run, action, context);
      advanceRun(life, run, context);
      break;
    }
    case 'stop-container':
      stop(life, life.runs[action.position]!, action, context);
      break;
    default:
      finish(life.state, action, { type: 'done' }, context.now);
  }
}

/** Creates the sandbox, if its time has come. */
function createSandbox(life: PodLife, { now, takeAddress, emit }: LifecycleContext): boolean {
  const { sandboxAction: action } = life;
  if (!action || now < life.sandboxAt) return false;
  life.sandboxAction = undefined;
  life.address ??= takeAddress(life.pod);
  if (life.address === undefined) {
    emit(life, { type: 'noAddress' });
    finish(life.state, action, { type: 'failed', reason: '', message: 'no address is left' }, now);
    return true;
  }
  addSandbox(life.state, sandboxOf(life.pod, now, life.address));
  return true;
}

type StopAction = Extract<Action, { readonly type: 'stop-container' }>;

/** How a container ends that is stopped while its pod is not deleted. */
const EXIT_CODES: Readonly<Record<StopCause, number>> = {
  deleted: 143,
  failed: 137,
  ended: 0,
  sandbox: 137,
  image: 143,
  resources: 143,
  liveness: 137,
  startup: 137,
  'restart-all': 137,
  unknown: 137,
};

function stop(life: PodLife, run: SimulatedRun, { cause, by }: StopAction, context: LifecycleContext): void {
  const { now, random } = context;
  if (cause !== 'deleted') {
    end(life, run, { now, exitCode: EXIT_CODES[cause] });
    return;
  }
  // All containers of a pod stop together. A second deletion can shorten their grace period.
  const wanted = life.stopsAt ?? now + sample(life.stages.stop, random);
  life.stopsAt = Math.min(wanted, Math.max(now, by));
  life.stopsBy = by;
  run.isStopping = true;
  advanceRun(life, run, context);
}
