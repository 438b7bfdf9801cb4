/** Evicts the victims of a preemption. */

import { isApiError } from '../../api/errors.ts';
import { timestamp } from '../../base/time/timestamp.ts';
import type { ClientTools } from '../../client/client.ts';
import { Pod as PodKind } from '../../kinds/groups/core/pod/pod.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { Pod } from '../objects.ts';
import type { Candidate } from './importance.ts';

export interface EvictOptions extends Pick<ClientTools, 'client' | 'clock'> {
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

/** Pods that are already being deleted are skipped. */
export async function evict(preemptor: PodInfo, candidate: Candidate, options: EvictOptions): Promise<void> {
  const staying = candidate.victims.filter(({ isLeaving }) => !isLeaving);
  await Promise.all(staying.map((victim) => sendAway(victim, { preemptor, nodeName: candidate.nodeName }, options)));
}

async function sendAway(
  victim: PodInfo,
  { preemptor, nodeName }: { readonly preemptor: PodInfo; readonly nodeName: string },
  { client, clock, recorder, signal }: EvictOptions,
): Promise<void> {
  const { name, namespace, uid } = victim;
  const pods = client.of(PodKind).in(namespace);
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: timestamp(clock.now()),
    reason: 'PreemptionByScheduler',
    message: `${preemptor.pod.spec.schedulerName}: preempting to accommodate a higher priority pod`,
  };
  const changes = { metadata: { uid }, status: { conditions: [condition] } };
  try {
    await pods.patchStatus(name, { type: 'strategic', changes }, { signal });
    await pods.delete(name, { preconditions: { uid }, signal });
  } catch (error) {
    // Already gone, or replaced by another of that name.
    if (isApiError(error, 'NotFound', 'Conflict')) return;
    throw error;
  }
  recorder.event(victim.pod, 'Normal', 'Preempted', `Preempted by pod ${preemptor.uid} on node ${nodeName}`);
}

/** Records events. Returns at once and never fails. */
export interface Recorder {
  event(object: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void;
}
