/** Simulates image pulls: the image is present, is pulled, or cannot be pulled. */
import { imageNameError } from '../../pod/image-name.ts';
import { containerOf } from '../../pod/phase.ts';
import { sample } from '../rules/duration.ts';
import { pullDelay } from './back-off.ts';
import type { LifecycleContext } from './context.ts';
import { imageIdOf } from './ids.ts';
import type { PodLife, SimulatedRun } from './pod-life.ts';

/** How long a container waits for an image that is never pulled. */
const RETRY_MS = 10_000;

/** Prepares the first start: the image is pulled when that takes time or fails, or with the pull policy Always. */
export function pullImage(life: PodLife, run: SimulatedRun, context: LifecycleContext): void {
  const { now, random } = context;
  const { takes, fails } = life.stages.pull;
  if (invalidImageMessage(life, run) !== undefined) {
    run.startsAt = now;
    return;
  }
  const wait = run.failures > 0 ? 0 : sample(takes, random);
  run.startsAt = now + wait;
  const policy = policyOf(life, run);
  if (policy === 'Always' || (policy !== 'Never' && (wait > 0 || fails !== undefined))) startPull(life, run, context);
}

/** Runs at every start. */
export function useImage(life: PodLife, run: SimulatedRun, context: LifecycleContext): void {
  if (policyOf(life, run) === 'Always' && run.pullStartedAt === undefined) startPull(life, run, context);
  const took = run.pullStartedAt === undefined ? undefined : context.now - run.pullStartedAt;
  run.pullStartedAt = undefined;
  run.image = containerOf(life.pod, run).image ?? run.image;
  run.imageID = imageIdOf(run.image);
  context.emit(life, { type: 'pulled', took, run });
}

/**
 * Whether the container cannot start for lack of an image. One that has run before has it, if the reference is still valid.
 */
export function isImageMissing(life: PodLife, run: SimulatedRun, context: LifecycleContext): boolean {
  const message = invalidImageMessage(life, run);
  if (message === undefined) {
    return life.stages.pull.fails !== undefined && run.last === undefined && failPull(life, run, context);
  }
  run.state = { type: 'waiting', reason: 'InvalidImageName', message };
  run.startsAt = context.now + RETRY_MS;
  context.emit(life, { type: 'invalidImage', run });
  return true;
}

export function invalidImageMessage({ pod }: PodLife, run: SimulatedRun): string | undefined {
  const { image = '' } = containerOf(pod, run);
  const fault = imageNameError(image);
  return fault && `Failed to apply default image tag "${image}": ${fault}`;
}

/** Alternates between a failed pull and a back-off. */
function failPull(life: PodLife, run: SimulatedRun, context: LifecycleContext): true {
  const { now, emit } = context;
  const image = containerOf(life.pod, run).image ?? '';
  if (policyOf(life, run) === 'Never') {
    run.state = { type: 'waiting', reason: 'ErrImageNeverPull', message: neverPullMessage(image) };
    run.startsAt = now + RETRY_MS;
    emit(life, { type: 'neverPulled', run });
    return true;
  }
  const why = pullError(life, run);
  if (run.state.type === 'waiting' && run.state.reason === 'ErrImagePull') {
    const message = `Back-off pulling image "${image}": ErrImagePull: ${why}`;
    run.state = { type: 'waiting', reason: 'ImagePullBackOff', message };
    run.startsAt = now + pullDelay(run.failures);
    emit(life, { type: 'pullBackOff', run });
    return true;
  }
  if (run.pullStartedAt === undefined) startPull(life, run, context);
  run.pullStartedAt = undefined;
  run.failures++;
  run.state = { type: 'waiting', reason: 'ErrImagePull', message: why };
  run.startsAt = now + pullDelay(0);
  emit(life, { type: 'pullFailed', run });
  return true;
}

export function pullError(life: PodLife, run: SimulatedRun): string {
  return `failed to pull and unpack image "${containerOf(life.pod, run).image}": ${life.stages.pull.fails}`;
}

export const neverPullMessage = (image: string) =>
  `Container image "${image}" is not present with pull policy of Never`;

function startPull(life: PodLife, run: SimulatedRun, { now, emit }: LifecycleContext): void {
  run.pullStartedAt = now;
  emit(life, { type: 'pulling', run });
}

const policyOf = ({ pod }: PodLife, run: SimulatedRun) => containerOf(pod, run).imagePullPolicy;
