/** Performs the actions of a plan in memory. What takes time is foreseen here, and done when it is due. */
import type { Action } from '../../pod/plan/action.ts';
import { addSandbox, finish } from '../../pod/plan/record.ts';
import type { StopCause } from '../../pod/plan/state.ts';
import { sample } from '../rules/duration.ts';
import { advanceRun, end, startContainer } from './advance-container.ts';
import type { LifecycleContext } from './context.ts';
import { pullImage } from './images.ts';
import { type PodLife, type SimulatedRun, sandboxOf } from './pod-life.ts';

export function perform(life: PodLife, action: Action, context: LifecycleContext): void {
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
export function createSandbox(life: PodLife, { now, takeAddress, emit }: LifecycleContext): boolean {
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
