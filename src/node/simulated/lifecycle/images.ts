/** Simulates image pulls: the image is present, is pulled, or cannot be pulled. */
import { imageNameError } from '../../pod/image-name.ts';
import { containerOf } from '../../pod/phase.ts';
import type { Action, ActionOutcome } from '../../pod/plan/action.ts';
import { hasRun } from '../../pod/plan/facts.ts';
import { finish } from '../../pod/plan/record.ts';
import { sample } from '../rules/duration.ts';
import type { LifecycleContext } from './context.ts';
import { imageIdOf } from './ids.ts';
import type { PodLife, SimulatedRun } from './pod-life.ts';

type PullAction = Extract<Action, { readonly type: 'pull-image' }>;

/** Begins to look for the image. It takes time before the first start only: then it is present. */
export function pullImage(life: PodLife, run: SimulatedRun, action: PullAction, context: LifecycleContext): void {
  const { now, random, emit } = context;
  const { takes, fails } = life.stages.pull;
  if (invalidImageMessage(life, run) !== undefined) {
    run.pull = { action, startedAt: undefined, endsAt: now };
    return;
  }
  const { image } = run.container;
  const isFirst = !hasRun(run.container);
  const isRetry = image.type === 'doing' && image.failures > 0;
  const wait = isFirst && !isRetry ? sample(takes, random) : 0;
  const policy = policyOf(life, run);
  const isPulled = policy === 'Always' || (isFirst && policy !== 'Never' && (wait > 0 || fails !== undefined));
  run.pull = { action, startedAt: isPulled ? now : undefined, endsAt: now + wait };
  if (isPulled) emit(life, { type: 'pulling', run });
}

/** Ends a pull whose time has come. */
export function endPull(life: PodLife, run: SimulatedRun, context: LifecycleContext): void {
  const { pull } = run;
  if (!pull) return;
  run.pull = undefined;
  run.isStale = true;
  finish(life.state, pull.action, outcomeOf(life, run, pull.startedAt, context), context.now);
}

function outcomeOf(
  life: PodLife,
  run: SimulatedRun,
  startedAt: number | undefined,
  { now, emit }: LifecycleContext,
): ActionOutcome {
  const invalid = invalidImageMessage(life, run);
  if (invalid !== undefined) {
    emit(life, { type: 'invalidImage', run });
    return { type: 'failed', reason: 'InvalidImageName', message: invalid };
  }
  const image = containerOf(life.pod, run).image ?? '';
  if (life.stages.pull.fails === undefined || hasRun(run.container)) {
    emit(life, { type: 'pulled', took: startedAt === undefined ? undefined : now - startedAt, run });
    return { type: 'done', imageId: imageIdOf(image) };
  }
  if (policyOf(life, run) === 'Never') {
    emit(life, { type: 'neverPulled', run });
    return { type: 'failed', reason: 'ErrImageNeverPull', message: neverPullMessage(image) };
  }
  emit(life, { type: 'pullFailed', run });
  return { type: 'failed', reason: 'ErrImagePull', message: pullError(life, run) };
}

export function invalidImageMessage({ pod }: PodLife, run: SimulatedRun): string | undefined {
  const { image = '' } = containerOf(pod, run);
  const fault = imageNameError(image);
  return fault && `Failed to apply default image tag "${image}": ${fault}`;
}

export function pullError(life: PodLife, run: SimulatedRun): string {
  return `failed to pull and unpack image "${containerOf(life.pod, run).image}": ${life.stages.pull.fails}`;
}

export const neverPullMessage = (image: string) =>
  `Container image "${image}" is not present with pull policy of Never`;

const policyOf = ({ pod }: PodLife, run: SimulatedRun) => containerOf(pod, run).imagePullPolicy;
