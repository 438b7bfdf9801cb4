/** Why a container that is to run waits, and until when. */
import type { SeenContainer, SeenPod } from '../container-run.ts';
import { formatDuration } from '../duration.ts';
import { crashDelay, ERROR_SHOWN_MS, LOCAL_IMAGE_ERRORS } from './back-off.ts';
import { endTimesOf } from './facts.ts';
import { isChanged } from './resize.ts';
import type { ContainerState } from './state.ts';

export interface Wait {
  readonly until: number;
  readonly reason: string;
  readonly message: string;
  /** Cause of the back-off; undefined: it is no back-off. */
  readonly backOff: 'image' | 'crash' | undefined;
}

/** Returns undefined for a container that need not wait. */
export function waitOf(pod: SeenPod, container: SeenContainer, state: ContainerState, now: number): Wait | undefined {
  return imageWait(container, state, now) ?? startWait(state, now) ?? crashWait(pod, container, state, now);
}

function imageWait({ image: wanted = '' }: SeenContainer, { image, imageName }: ContainerState, now: number) {
  if (image.type !== 'failed' || imageName !== wanted || now >= image.retryAt) return undefined;
  const { reason, message, failedAt, retryAt } = image;
  if (LOCAL_IMAGE_ERRORS.has(reason)) return { until: retryAt, reason, message, backOff: undefined };
  const shownUntil = Math.min(retryAt, failedAt + ERROR_SHOWN_MS);
  if (now < shownUntil) return { until: shownUntil, reason, message, backOff: undefined };
  const why = `Back-off pulling image "${wanted}": ${reason}: ${message}`;
  return { until: retryAt, reason: 'ImagePullBackOff', message: why, backOff: 'image' as const };
}

function startWait({ start, startAttempt, records }: ContainerState, now: number) {
  if (start.type !== 'failed') return undefined;
  const { reason, message, failedAt, retryAt } = start;
  // A container that was created and ended at once is restarted like any other that ended.
  const hasEnded = records[0]?.state === 'exited' && records[0].attempt === startAttempt;
  const until = hasEnded ? failedAt + ERROR_SHOWN_MS : retryAt;
  return now < until ? { until, reason, message, backOff: undefined } : undefined;
}

function crashWait(pod: SeenPod, container: SeenContainer, state: ContainerState, now: number) {
  const end = endTimesOf(state);
  if (!end || state.reset === 'target' || wasChanged(pod, container, state)) return undefined;
  const delay = crashDelay(state.crashes, end.ranMs);
  const until = end.at + delay;
  if (now >= until) return undefined;
  const message = `back-off ${formatDuration(delay)} restarting failed container=${state.name} pod=${nameOf(pod)}`;
  return { until, reason: 'CrashLoopBackOff', message, backOff: 'crash' as const };
}

/** Reports whether the spec has changed since the container was started: then it is restarted without delay. */
function wasChanged(pod: SeenPod, container: SeenContainer, state: ContainerState): boolean {
  const record = state.records[0];
  if (record && container.image && record.image !== container.image) return true;
  return isChanged(pod, container, state);
}

/** As kubelets write a pod in messages. */
export const nameOf = ({ metadata: { name, namespace, uid } }: SeenPod) => `${name}_${namespace}(${uid})`;
