/** The status of a DaemonSet: counts of nodes, not of pods. */
import { isAvailable } from '../../shared/pods/availability.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import type { DaemonNodes } from './daemon-nodes.ts';
import type { PodTest, SeenDaemonSet } from './daemon-pod.ts';

export interface StatusInput {
  readonly isUpdated: PodTest;
  readonly collisions: number | undefined;
  readonly now: number;
}

export function statusOf(
  daemonSet: SeenDaemonSet,
  all: DaemonNodes,
  { isUpdated, collisions, now }: StatusInput,
): object {
  const { metadata, spec, status } = daemonSet;
  const { minReadySeconds = 0 } = spec;
  let current = 0;
  let misscheduled = 0;
  let ready = 0;
  let available = 0;
  let updated = 0;
  for (const { shouldRun, pods } of all.nodes) {
    const [oldest] = pods;
    if (!oldest) continue;
    if (!shouldRun) {
      misscheduled++;
      continue;
    }
    current++;
    if (isUpdated(oldest)) updated++;
    if (!isReady(oldest)) continue;
    ready++;
    if (isAvailable(oldest, minReadySeconds, now)) available++;
  }
  return {
    ...status,
    desiredNumberScheduled: all.desired,
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    numberReady: ready,
    updatedNumberScheduled: shown(updated),
    numberAvailable: shown(available),
    numberUnavailable: shown(all.desired - available),
    observedGeneration: metadata.generation,
    collisionCount: collisions,
  };
}

/** Zero is omitted. */
const shown = (count: number) => count || undefined;
