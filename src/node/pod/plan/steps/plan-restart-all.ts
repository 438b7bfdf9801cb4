/**
 * Plans the restart of all containers, which the exit of one can cause (`RestartAllContainers`): all are killed and removed,
 * those that have caused it last, and the pod starts over in its sandbox.
 */
import { restartsAll } from '../../../../kinds/shapes/container/restart.ts';
import { specAt } from '../facts.ts';
import type { ContainerState } from '../state.ts';
import type { PlanDraft } from './draft.ts';
import { liveRecord, planStop, removeRecord } from './plan-container.ts';

/** Returns whether all containers are being restarted. */
export function planRestartAll(draft: PlanDraft, sandboxId: string): boolean {
  const { state } = draft;
  const sources = state.isRestartingAll ? NO_SOURCES : sourcesIn(draft, sandboxId);
  if (sources.size > 0) draft.decide({ type: 'restart-all', sources });
  else if (!state.isRestartingAll) return false;
  const isSource = ({ position, reset }: ContainerState) => reset === 'source' || sources.has(position);
  const own = state.containers.filter(({ role }) => role !== 'ephemeral');
  const targets = own.filter((each) => !isSource(each)).reverse();
  if (removeAll(draft, targets) && removeAll(draft, own.filter(isSource))) {
    draft.decide({ type: 'start-over' });
    draft.wakeAt(draft.now);
  }
  return true;
}

const NO_SOURCES: ReadonlySet<number> = new Set();

/**
 * Returns the positions of the containers whose exit restarts all. Only those are looked at that may have exited since the
 * last plan: a pod may have thousands of init containers, and is planned again after each.
 */
function sourcesIn({ pod, state, settledBefore }: PlanDraft, sandboxId: string): ReadonlySet<number> {
  const { containers, furthest } = state;
  const last = furthest?.sandboxId === sandboxId ? furthest.position : containers.length - 1;
  let found = NO_SOURCES;
  for (let at = settledBefore; at <= last; at++) {
    const { role, records, start } = containers[at]!;
    const [newest] = records;
    if (role === 'ephemeral' || newest?.state !== 'exited' || newest.sandboxId !== sandboxId) continue;
    if (start.type === 'doing' || !restartsAll(specAt(pod, at), newest.exitCode ?? 0)) continue;
    if (found === NO_SOURCES) found = new Set();
    (found as Set<number>).add(at);
  }
  return found;
}

/** Returns whether nothing is left of these containers. */
function removeAll(draft: PlanDraft, containers: readonly ContainerState[]): boolean {
  let isDone = true;
  for (const each of containers) {
    if (each.records.length === 0 && each.start.type !== 'doing') continue;
    isDone = false;
    const live = liveRecord(each);
    const how = { cause: 'restart-all', container: specAt(draft.pod, each.position), by: draft.now } as const;
    if (live) planStop(draft, each, live, how);
    else if (each.start.type !== 'doing')
      for (const record of each.records) removeRecord(draft, each, record, KEPT_LOG);
  }
  return isDone;
}

const KEPT_LOG = { keepsLog: true };
