/** Plans for one container: the next step towards its start, or its stop. */
import { mayRestart } from '../../../../kinds/shapes/container/restart.ts';
import type { SeenContainer, SeenPod } from '../../container-run.ts';
import { exitCodeOf, hasRun } from '../facts.ts';
import { hasOther, isChanged } from '../resize.ts';
import type { ContainerRecord, ContainerState, StopCause } from '../state.ts';
import { nameOf, waitOf } from '../wait.ts';
import type { PlanDraft } from './draft.ts';

/** Reports whether the container is restarted after this exit. */
function isRestarted({ spec }: SeenPod, container: SeenContainer, { role }: ContainerState, exitCode: number): boolean {
  if (role === 'ephemeral' || (role === 'init' && exitCode === 0)) return false;
  return mayRestart(container, spec, exitCode);
}

/** Reports whether it is to be started, now or after a back-off: it has not run yet, or is restarted. */
export function isToStart(pod: SeenPod, container: SeenContainer, state: ContainerState): boolean {
  if (state.reset) return true;
  const exitCode = exitCodeOf(state);
  if (exitCode === undefined) return !hasRun(state);
  return wasStoppedForChange(state) || isRestarted(pod, container, state, exitCode);
}

/** Reports whether it was stopped to start it with its changed spec, whatever its restart policy. */
export function wasStoppedForChange({ stop, records }: ContainerState): boolean {
  return stop !== undefined && stop.id === records[0]?.id && (stop.cause === 'image' || stop.cause === 'resources');
}

/** Keeps a container as it is to be: starts it, or stops it when it has to be restarted. */
export function planContainer(draft: PlanDraft, container: SeenContainer, state: ContainerState): void {
  const live = liveRecord(state);
  if (state.records.length > KEPT_RECORDS) pruneRecords(draft, state);
  if (live) planRunning(draft, container, state, live);
  else if (isToStart(draft.pod, container, state)) planStart(draft, container, state);
}

/** The newest attempt, and the one before it for its logs. */
const KEPT_RECORDS = 2;

/** Removes what the runtime keeps of attempts before the previous one. */
function pruneRecords(draft: PlanDraft, state: ContainerState): void {
  const { records } = state;
  for (let at = KEPT_RECORDS; at < records.length; at++) {
    const record = records[at]!;
    if (record.state === 'exited' || record.state === 'created') removeRecord(draft, state, record);
  }
}

/** Plans the next step towards a start. Nothing of the container runs. */
export function planStart(draft: PlanDraft, container: SeenContainer, state: ContainerState): void {
  const { pod, now } = draft;
  const { image: imageName = '' } = container;
  if (state.start.type === 'doing' || state.start.type === 'done') return;
  const leftover = state.records[0];
  if (leftover?.state === 'created') {
    removeRecord(draft, state, leftover);
    return;
  }
  const { image } = state;
  const isThisImage = state.imageName === imageName;
  if (isThisImage && image.type === 'doing') return;
  const wait = waitOf(pod, container, state, now);
  if (wait) {
    draft.wakeAt(wait.until);
    if (wait.backOff && state.announced !== wait.until) {
      draft.decide({ type: 'announce', position: state.position, until: wait.until });
      announce(draft, state, wait.backOff, imageName);
    }
    return;
  }
  if (!isThisImage || image.type !== 'done') {
    draft.act({ type: 'pull-image', container: state.name, position: state.position, image: imageName });
    return;
  }
  draft.act({
    type: 'start-container',
    container: state.name,
    position: state.position,
    attempt: nextAttempt(state),
    image: imageName,
    imageId: state.imageId,
    resources: container.resources,
    podResources: pod.spec.resources,
  });
}

function announce(draft: PlanDraft, state: ContainerState, backOff: 'image' | 'crash', image: string): void {
  if (backOff === 'crash') {
    const message = `Back-off restarting failed container ${state.name} in pod ${nameOf(draft.pod)}`;
    draft.event('Warning', 'BackOff', message, state);
    return;
  }
  draft.event('Normal', 'BackOff', `Back-off pulling image "${image}"`, state);
  draft.event('Warning', 'Failed', 'Error: ImagePullBackOff', state);
}

function nextAttempt(state: ContainerState): number {
  if (!hasRun(state)) return 0;
  return Math.max(state.restarts, state.records[0]?.attempt ?? 0) + 1;
}

/** Returns what still runs of it: the oldest, should there be several. */
export function liveRecord({ records }: ContainerState): ContainerRecord | undefined {
  for (let i = records.length - 1; i >= 0; i--) {
    const record = records[i]!;
    if (record.state === 'running' || record.state === 'unknown') return record;
  }
  return undefined;
}

function planRunning(draft: PlanDraft, container: SeenContainer, state: ContainerState, live: ContainerRecord): void {
  if (state.start.type === 'doing') return;
  const cause = causeToStop(draft, container, state, live);
  if (cause) planStop(draft, state, live, { cause, container, by: draft.now + graceOf(draft.pod, container, cause) });
}

function causeToStop(
  draft: PlanDraft,
  container: SeenContainer,
  state: ContainerState,
  live: ContainerRecord,
): StopCause | undefined {
  if (live.state === 'unknown' || live !== state.records[0]) return 'unknown';
  if (state.role === 'ephemeral') return undefined;
  if (state.role === 'init') {
    planResize(draft, container, state, live);
    return undefined;
  }
  if (container.image && live.image !== container.image) return 'image';
  if (state.started === false) return 'startup';
  if (state.live === false) return 'liveness';
  return planResize(draft, container, state, live) ? 'resources' : undefined;
}

/** Plans an update of its resources; returns whether it has to be restarted for it. An init container never is. */
function planResize(draft: PlanDraft, container: SeenContainer, state: ContainerState, live: ContainerRecord): boolean {
  const { update } = state;
  const { pod } = draft;
  if (!isChanged(pod, container, state)) return false;
  if (state.role !== 'init' && needsRestart(pod, container, state)) return true;
  if (update.type === 'doing' || (update.type === 'failed' && !draft.isDue(update.retryAt))) return false;
  const { name, position } = state;
  const wanted = { resources: container.resources, podResources: pod.spec.resources };
  draft.act({ type: 'update-resources', container: name, position, id: live.id, ...wanted });
  return false;
}

function needsRestart(pod: SeenPod, container: SeenContainer, { applied }: ContainerState): boolean {
  const policies = 'resizePolicy' in container ? (container.resizePolicy ?? []) : [];
  return policies.some(
    ({ resourceName: name, restartPolicy }) =>
      restartPolicy === 'RestartContainer' &&
      (name === 'cpu' || name === 'memory') &&
      applied !== undefined &&
      hasOther(name, pod, container, applied),
  );
}

/** Returns the grace period of a container that is stopped while its pod goes on, in milliseconds. */
function graceOf({ spec }: SeenPod, container: SeenContainer, cause: StopCause): number {
  const probe =
    cause === 'liveness' && 'livenessProbe' in container
      ? container.livenessProbe
      : cause === 'startup' && 'startupProbe' in container
        ? container.startupProbe
        : undefined;
  return (probe?.terminationGracePeriodSeconds ?? graceSecondsOf(spec)) * 1_000;
}

const DEFAULT_GRACE_SECONDS = 30;

export const graceSecondsOf = ({ terminationGracePeriodSeconds: seconds }: SeenPod['spec']) =>
  seconds ?? DEFAULT_GRACE_SECONDS;

export interface Stop {
  readonly cause: StopCause;
  readonly container: SeenContainer;
  /** When the grace period ends. */
  readonly by: number;
}

/** Stops what runs, unless it is being stopped already. A stop is repeated when its grace period became shorter. */
export function planStop(draft: PlanDraft, state: ContainerState, live: ContainerRecord, how: Stop): void {
  const { now } = draft;
  const stop = state.stop?.id === live.id ? state.stop : undefined;
  const by = stop ? Math.min(stop.by, how.by) : how.by;
  const isShorter = stop !== undefined && by < stop.by;
  if (stop && !isShorter && (stop.step.type !== 'failed' || !draft.isDue(stop.step.retryAt))) return;
  const graceSeconds = Math.max(0, Math.ceil((by - now) / 1_000));
  const { name, position } = state;
  const hook = state.preStop?.id === live.id ? { isHookDone: true } : {};
  const { cause } = how;
  draft.act({ type: 'stop-container', container: name, position, id: live.id, graceSeconds, by, cause, ...hook });
  if (!stop && !hook.isHookDone) draft.event('Normal', 'Killing', stopMessage(draft.pod, state, how), state);
}

/** Runs the preStop hook of a container before it is stopped, once; returns whether it runs. */
export function isInHook(draft: PlanDraft, state: ContainerState, live: ContainerRecord, how: Stop): boolean {
  const { container, by } = how;
  const graceSeconds = Math.ceil((by - draft.now) / 1_000);
  if (graceSeconds <= 0) return false;
  if (state.preStop?.id === live.id) return state.preStop.step.type === 'doing';
  const hasHook = 'lifecycle' in container && container.lifecycle?.preStop !== undefined;
  if (!hasHook || state.stop?.id === live.id) return false;
  draft.act({ type: 'pre-stop', container: state.name, position: state.position, id: live.id, graceSeconds });
  draft.event('Normal', 'Killing', stopMessage(draft.pod, state, how), state);
  return true;
}

function stopMessage({ spec }: SeenPod, { name, role }: ContainerState, { cause, container }: Stop): string {
  const subject = role === 'sidecar' ? `Init container ${name}` : `Container ${name}`;
  const policy = container.restartPolicy ?? spec.restartPolicy;
  const isAgain = role !== 'sidecar' && (cause === 'image' || policy !== 'Never') ? ', will be restarted' : '';
  switch (cause) {
    case 'image':
      return `${subject} definition changed${isAgain}`;
    case 'liveness':
    case 'startup':
      return `${subject} failed ${cause} probe${isAgain}`;
    case 'resources':
      return `${subject} resize requires restart${isAgain}`;
    case 'unknown':
      return `${role === 'sidecar' || role === 'init' ? 'Init container' : 'Container'} is in "Unknown" state, try killing it before restart`;
    case 'restart-all':
      return 'killing';
    default:
      return `Stopping container ${name}`;
  }
}

/** Removes what the runtime keeps of an earlier attempt. */
export function removeRecord(
  draft: PlanDraft,
  { name, position, removals }: ContainerState,
  { id }: ContainerRecord,
  options: { readonly keepsLog?: boolean } = {},
): void {
  if (!removals.includes(id)) draft.act({ type: 'remove-container', container: name, position, id, ...options });
}
