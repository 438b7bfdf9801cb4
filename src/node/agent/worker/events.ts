/** Which object an event of a plan is about. */
import type { EventSubject } from '../../../client/events/event-recorder.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { PlannedEvent } from '../../pod/plan/action.ts';

const CONTAINER_FIELDS = {
  init: 'initContainers',
  sidecar: 'initContainers',
  main: 'containers',
  ephemeral: 'ephemeralContainers',
} as const;

export function eventSubject({ metadata }: SeenPod, container: PlannedEvent['container']): EventSubject {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata };
  if (!container) return pod;
  return { ...pod, fieldPath: `spec.${CONTAINER_FIELDS[container.role]}{${container.name}}` };
}
