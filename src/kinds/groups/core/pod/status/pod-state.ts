/** The state of a pod in a few words, as `kubectl get pods` shows it. */

import type { Sparse } from '../../../../columns/column.ts';
import type { ContainerStatus } from '../../../../shapes/container/container-status.ts';
import type { Pod } from '../pod-fields.ts';
import { trueRestarts } from './restart-counts.ts';

type ShownPod = Sparse<Pod>;
type ShownStatus = ShownPod['status'];
type Container = Sparse<ContainerStatus>;
type Terminated = NonNullable<NonNullable<Container['state']>['terminated']>;

export interface PodState {
  readonly ready: number;
  /** Number of containers and sidecars. */
  readonly containers: number;
  readonly reason: string;
  readonly restarts: number;
  /** Time at which a restarted container last terminated. */
  readonly lastRestart: string | undefined;
}

const NODE_UNREACHABLE = 'NodeLost';

export function podState(pod: ShownPod): PodState {
  const { metadata, spec, status } = pod;
  const sidecars = sidecarsOf(spec);
  const init = initialization(pod, sidecars);
  const done = init.reason === undefined || conditionHolds(status, 'Initialized');
  const before = init.reason ?? initialReason(status);
  const main = done ? running(pod, before) : undefined;
  // Restarts of completed init containers are not shown.
  const counted = main ? [init.sidecars, main.restarts] : [init.all];
  const phase = status?.phase ?? '';
  const reason = main?.reason ?? before;
  return {
    ready: init.ready + (main?.ready ?? 0),
    containers: (spec?.containers?.length ?? 0) + sidecars.size,
    reason: metadata?.deletionTimestamp ? endingReason(status, phase, reason) : reason,
    restarts: counted.reduce((sum, { count }) => sum + count, 0),
    lastRestart: latest(counted.map(({ last }) => last)),
  };
}

function initialReason(status: ShownStatus): string {
  const gated = status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated');
  return gated ? 'SchedulingGated' : status?.reason || status?.phase || '';
}

function endingReason(status: ShownStatus, phase: string, reason: string): string {
  if (status?.reason === NODE_UNREACHABLE) return 'Unknown';
  return phase === 'Succeeded' || phase === 'Failed' ? reason : 'Terminating';
}

/** The names of the sidecars: init containers with the restart policy Always. */
function sidecarsOf(spec: ShownPod['spec']): ReadonlySet<string> {
  const containers = spec?.initContainers ?? [];
  return new Set(containers.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name = '' }) => name));
}

interface Restarts {
  readonly count: number;
  readonly last: string | undefined;
}

interface Initialization {
  /** Sidecars that are ready. */
  readonly ready: number;
  /** Why initialization has not completed; undefined when it has. */
  readonly reason: string | undefined;
  /** Restarts of the init containers up to the current one, and of the sidecars among them. */
  readonly all: Restarts;
  readonly sidecars: Restarts;
}

/** Init containers run one after the other: the first that has not completed decides. */
function initialization({ metadata, spec, status }: ShownPod, sidecars: ReadonlySet<string>): Initialization {
  const statuses = status?.initContainerStatuses ?? [];
  const waiting = statuses.findIndex((each) => !hasCompleted(each, sidecars));
  const seen = waiting < 0 ? statuses : statuses.slice(0, waiting + 1);
  const through = waiting < 0 ? statuses : statuses.slice(0, waiting);
  const total = spec?.initContainers?.length ?? 0;
  return {
    ready: through.filter((each) => each.ready && sidecars.has(each.name ?? '') && !hasSucceeded(each)).length,
    reason: waiting < 0 ? undefined : `Init:${waitingReason(statuses[waiting]!) ?? `${waiting}/${total}`}`,
    all: restartsOf(metadata, seen),
    sidecars: restartsOf(
      metadata,
      seen.filter(({ name = '' }) => sidecars.has(name)),
    ),
  };
}

function hasCompleted(status: Container, sidecars: ReadonlySet<string>): boolean {
  return hasSucceeded(status) || (sidecars.has(status.name ?? '') && status.started === true);
}

function hasSucceeded({ state }: Container): boolean {
  return state?.terminated !== undefined && !state.terminated.exitCode;
}

function waitingReason({ state }: Container): string | undefined {
  if (state?.terminated) return terminationReason(state.terminated);
  const reason = state?.waiting?.reason;
  return reason && reason !== 'PodInitializing' ? reason : undefined;
}

function terminationReason({ reason, signal, exitCode = 0 }: Terminated): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

interface Running {
  readonly ready: number;
  readonly reason: string;
  readonly restarts: Restarts;
}

/** The first container that is waiting or terminated gives the reason; a running one takes precedence over completed ones. */
function running({ metadata, status }: ShownPod, before: string): Running {
  const statuses = status?.containerStatuses ?? [];
  const ready = statuses.filter(isReady).length;
  const speaking = statuses.find((each) => reasonOf(each) !== undefined);
  const reason = (speaking && reasonOf(speaking)) ?? before;
  const failed = statuses.find(hasFailed)?.state?.terminated;
  return {
    ready,
    reason: reason === 'Completed' ? completedReason(status, ready > 0, failed) : reason,
    restarts: restartsOf(metadata, statuses),
  };
}

function completedReason(status: ShownStatus, anyReady: boolean, failed: Terminated | undefined): string {
  if (anyReady && conditionHolds(status, 'Ready')) return 'Running';
  if (failed) return terminationReason(failed);
  return anyReady ? 'NotReady' : 'Completed';
}

function reasonOf({ state }: Container): string | undefined {
  if (state?.waiting?.reason) return state.waiting.reason;
  return state?.terminated ? terminationReason(state.terminated) : undefined;
}

/** Ready, and in the state running. */
function isReady(status: Container): boolean {
  return reasonOf(status) === undefined && status.ready === true && Boolean(status.state?.running);
}

function hasFailed({ state }: Container): boolean {
  return !state?.waiting?.reason && Boolean(state?.terminated?.exitCode);
}

function restartsOf(metadata: ShownPod['metadata'], statuses: readonly Container[]): Restarts {
  return {
    count: trueRestarts(metadata?.annotations, statuses).reduce((sum, count) => sum + count, 0),
    last: latest(statuses.map(({ lastState }) => lastState?.terminated?.finishedAt)),
  };
}

/** Returns the latest time. All times have the same format, so that strings can be compared. */
function latest(times: readonly (string | undefined)[]): string | undefined {
  let last: string | undefined;
  for (const time of times) if (time && (last === undefined || time > last)) last = time;
  return last;
}

function conditionHolds(status: ShownStatus, wanted: string): boolean {
  return status?.conditions?.find(({ type }) => type === wanted)?.status === 'True';
}
