/** Container states from the status of a pod in the API. Clients can write it, so that anything may be missing. */
import { trueRestarts } from '../../kinds/groups/core/pod/status/restart-counts.ts';
import type { Role, SeenPod, Termination } from './container-run.ts';

export type ReportedStatus = NonNullable<SeenPod['status']['containerStatuses']>[number];

export interface Reported {
  readonly status: ReportedStatus;
  /** Not capped. */
  readonly restarts: number;
}

const STATUS_LISTS = {
  main: 'containerStatuses',
  init: 'initContainerStatuses',
  sidecar: 'initContainerStatuses',
  ephemeral: 'ephemeralContainerStatuses',
} as const;

type Find = (container: { readonly name: string; readonly role: Role }) => Reported | undefined;

const nothing: Find = () => undefined;

/** Returns how to find what is reported of a container. */
export function reportedIn({ metadata, status }: SeenPod): Find {
  if (!status.containerStatuses && !status.initContainerStatuses && !status.ephemeralContainerStatuses) return nothing;
  const found = new Map<string, Reported>();
  for (const list of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const) {
    const statuses = status[list] ?? [];
    const restarts = trueRestarts(metadata.annotations, statuses);
    for (const [at, each] of statuses.entries()) {
      found.set(`${list} ${each.name}`, { status: each, restarts: restarts[at] ?? 0 });
    }
  }
  return ({ name, role }) => found.get(`${STATUS_LISTS[role]} ${name}`);
}

export function reportedExit(terminated: NonNullable<ReportedStatus['state']['terminated']>, now: number): Termination {
  const { exitCode, reason = '', message, startedAt, finishedAt, containerID = '' } = terminated;
  return {
    exitCode,
    reason,
    message,
    startedAt: startedAt === undefined ? undefined : reportedTime(startedAt, now),
    finishedAt: reportedTime(finishedAt, now),
    id: containerID,
  };
}

/** A time that is missing is now: timers need numbers. */
export function reportedTime(text: string | undefined, now: number): number {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? now : time;
}
