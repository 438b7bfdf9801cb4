/** Decides what a node does next for a pod. */
import type { SeenPod } from '../container-run.ts';
import type { Plan } from './action.ts';
import { admittedPod } from './resize.ts';
import type { PodFailure, PodState } from './state.ts';
import { PlanDraft } from './steps/draft.ts';
import { planRun } from './steps/plan-run.ts';
import { planTermination } from './steps/plan-termination.ts';

const DEADLINE_MESSAGE = 'Pod was active on the node longer than the specified deadline';

/** Depends on its arguments alone and changes none of them. `begin` takes note of the result. */
export function planPod(seen: SeenPod, state: PodState, now: number): Plan {
  const pod = admittedPod(seen, state);
  const draft = new PlanDraft(pod, state, now);
  const isDeleted = state.isRemoved || pod.metadata.deletionTimestamp !== undefined;
  const failure = state.failure ?? (isDeleted || state.endPhase ? undefined : deadlineFailure(draft));
  const isEnding = isDeleted || failure || state.endPhase !== undefined || state.stopRequestedAt !== undefined;
  if (!isEnding && planRun(draft)) return draft;
  const ending = isEnding ? draft : new PlanDraft(pod, state, now);
  planTermination(ending, failure);
  return ending;
}

function deadlineFailure(draft: PlanDraft): PodFailure | undefined {
  const { pod, state, now } = draft;
  const { activeDeadlineSeconds } = pod.spec;
  if (activeDeadlineSeconds === undefined) return undefined;
  const deadline = state.startTime + activeDeadlineSeconds * 1_000;
  if (now < deadline) {
    draft.wakeAt(deadline);
    return undefined;
  }
  const failure = { reason: 'DeadlineExceeded', message: DEADLINE_MESSAGE };
  draft.decide({ type: 'fail', failure });
  draft.event('Normal', 'DeadlineExceeded', DEADLINE_MESSAGE);
  return failure;
}
