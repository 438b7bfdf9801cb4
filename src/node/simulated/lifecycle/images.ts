/** How a container comes to its image: it is on the machine, or is fetched, or cannot be had. */
import { imageNameFault } from '../../pod/image-name.ts';
import { containerOf } from '../../pod/phase.ts';
import { draw } from '../rules/span.ts';
import { pullDelay } from './back-off.ts';
import type { Circumstances } from './container-steps.ts';
import { imageIdOf } from './ids.ts';
import type { Life, SimulatedRun } from './life.ts';

/** Milliseconds until a container looks again whether its image is there, which nobody fetches. */
const LOOK = 10_000;

/** Before the first start: it is fetched if that takes time, if it cannot be had, or if it is to be at every start. */
export function fetchImage(life: Life, run: SimulatedRun, world: Circumstances): void {
  const { now, random } = world;
  const { takes, fails } = life.stages.pull;
  if (faultOf(life, run) !== undefined) {
    run.startsAt = now;
    return;
  }
  const wait = run.failures > 0 ? 0 : draw(takes, random);
  run.startsAt = now + wait;
  const policy = policyOf(life, run);
  if (policy === 'Always' || (policy !== 'Never' && (wait > 0 || fails !== undefined))) beginToFetch(life, run, world);
}

/** At every start. */
export function haveImage(life: Life, run: SimulatedRun, world: Circumstances): void {
  if (policyOf(life, run) === 'Always' && run.fetchedSince === undefined) beginToFetch(life, run, world);
  const took = run.fetchedSince === undefined ? undefined : world.now - run.fetchedSince;
  run.fetchedSince = undefined;
  run.image = containerOf(life.pod, run).image ?? run.image;
  run.imageID = imageIdOf(run.image);
  world.tell(life, { type: 'pulled', took, run });
}

/** Whether it cannot start for want of an image. One that has run has it, as long as it is the name of one. */
export function lacksImage(life: Life, run: SimulatedRun, world: Circumstances): boolean {
  const message = faultOf(life, run);
  if (message === undefined) {
    return life.stages.pull.fails !== undefined && run.last === undefined && failToFetch(life, run, world);
  }
  run.state = { type: 'waiting', reason: 'InvalidImageName', message };
  run.startsAt = world.now + LOOK;
  world.tell(life, { type: 'invalidImage', run });
  return true;
}

export function faultOf({ pod }: Life, run: SimulatedRun): string | undefined {
  const { image = '' } = containerOf(pod, run);
  const fault = imageNameFault(image);
  return fault && `Failed to apply default image tag "${image}": ${fault}`;
}

/** In turn it has just failed, and waits until it tries again. */
function failToFetch(life: Life, run: SimulatedRun, world: Circumstances): true {
  const { now, tell } = world;
  const image = containerOf(life.pod, run).image ?? '';
  if (policyOf(life, run) === 'Never') {
    run.state = { type: 'waiting', reason: 'ErrImageNeverPull', message: neverFetched(image) };
    run.startsAt = now + LOOK;
    tell(life, { type: 'neverPulled', run });
    return true;
  }
  const why = whyNot(life, run);
  if (run.state.type === 'waiting' && run.state.reason === 'ErrImagePull') {
    const message = `Back-off pulling image "${image}": ErrImagePull: ${why}`;
    run.state = { type: 'waiting', reason: 'ImagePullBackOff', message };
    run.startsAt = now + pullDelay(run.failures);
    tell(life, { type: 'pullBackOff', run });
    return true;
  }
  if (run.fetchedSince === undefined) beginToFetch(life, run, world);
  run.fetchedSince = undefined;
  run.failures++;
  run.state = { type: 'waiting', reason: 'ErrImagePull', message: why };
  run.startsAt = now + pullDelay(0);
  tell(life, { type: 'pullFailed', run });
  return true;
}

export function whyNot(life: Life, run: SimulatedRun): string {
  return `failed to pull and unpack image "${containerOf(life.pod, run).image}": ${life.stages.pull.fails}`;
}

export const neverFetched = (image: string) => `Container image "${image}" is not present with pull policy of Never`;

function beginToFetch(life: Life, run: SimulatedRun, { now, tell }: Circumstances): void {
  run.fetchedSince = now;
  tell(life, { type: 'pulling', run });
}

const policyOf = ({ pod }: Life, run: SimulatedRun) => containerOf(pod, run).imagePullPolicy;
