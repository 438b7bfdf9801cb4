/** Facts about a container that follow from its records. */
import type { SeenContainer, SeenPod, Termination } from '../container-run.ts';
import type { ContainerRecord, ContainerState, PodState, SandboxState } from './state.ts';

/** Returns the sandbox that containers can be started in. */
export function readySandbox({ sandboxes }: PodState): SandboxState | undefined {
  const newest = sandboxes[0];
  return newest?.isReady && newest.stop.type === 'to-do' ? newest : undefined;
}

/** Reports whether the runtime shows it as running; also while its postStart hook runs. */
export function isRunning({ records }: ContainerState): boolean {
  return records[0]?.state === 'running';
}

/** Reports whether any process of the container may still run. */
export function mayRun({ records, start }: ContainerState): boolean {
  return start.type === 'doing' || records.some(({ state }) => state === 'running' || state === 'unknown');
}

/** Reports whether it was started at least once, in any sandbox. */
export function hasRun({ records, lastExit }: ContainerState): boolean {
  return lastExit !== undefined || records.some(({ state }) => state !== 'created');
}

/** Reports whether it was started in this sandbox. */
export function hasRunIn({ records }: ContainerState, sandboxId: string): boolean {
  return records.some((record) => record.sandboxId === sandboxId && record.state !== 'created');
}

/** Returns how it ended; undefined while it runs, and before its first start. */
export function exitOf(state: ContainerState): Termination | undefined {
  for (const record of state.records) {
    if (record.state === 'exited') return terminationOf(record);
    if (record.state !== 'created') return undefined;
  }
  return state.lastExit;
}

/** Returns the exit code without building the termination. */
export function exitCodeOf({ records, lastExit }: ContainerState): number | undefined {
  for (const record of records) {
    if (record.state === 'exited') return record.exitCode ?? 0;
    if (record.state !== 'created') return undefined;
  }
  return lastExit?.exitCode;
}

/** Returns when it ended, and for how long it had run. */
export function endTimesOf(state: ContainerState): { readonly at: number; readonly ranMs: number } | undefined {
  const record = state.records.find((each) => each.state !== 'created');
  const { finishedAt, startedAt } = (record?.state === 'exited' ? record : state.lastExit) ?? {};
  if (finishedAt === undefined) return undefined;
  return { at: finishedAt, ranMs: finishedAt - (startedAt ?? finishedAt) };
}

/** Returns the exit before the newest start. */
export function previousExit({ records, lastExit }: ContainerState): Termination | undefined {
  const at = records.findIndex(({ state }) => state !== 'created');
  for (let i = at + 1; i < records.length; i++) {
    const record = records[i]!;
    if (record.state === 'exited') return terminationOf(record);
  }
  return lastExit;
}

function terminationOf(record: ContainerRecord): Termination {
  const { exitCode = 0, reason, message, startedAt, finishedAt, statusId } = record;
  return {
    exitCode,
    reason: reason || (exitCode === 0 ? 'Completed' : 'Error'),
    message,
    startedAt,
    finishedAt: finishedAt ?? startedAt ?? 0,
    id: statusId,
  };
}

/** Returns how a container ended that ran, and that the runtime does not know any more. */
export function lostExit({ startedAt, statusId: id }: ContainerRecord, now: number): Termination {
  return { exitCode: 137, reason: 'ContainerStatusUnknown', message: LOST_MESSAGE, startedAt, finishedAt: now, id };
}

export const RESTARTING_ALL = Object.freeze({
  reason: 'RestartingAllContainers',
  message: 'The container is removed because RestartAllContainers in place',
});

export const LOST_MESSAGE =
  'The container could not be located when the pod was deleted.  The container used to be Running';

/** Reports whether it runs and its startup probe has passed. */
export function isStarted(container: SeenContainer, state: ContainerState): boolean {
  if (!isRunning(state) || state.start.type === 'doing') return false;
  return state.started ?? !('startupProbe' in container && container.startupProbe);
}

/** Returns the spec of the container at that position of the state. */
export function specAt({ spec }: SeenPod, position: number): SeenContainer {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  if (position < initContainers.length) return initContainers[position]!;
  const other = position - initContainers.length;
  return containers[other] ?? ephemeralContainers[other - containers.length]!;
}
