/** A pod that runs on the node and is not known to the API any more. */
import type { SeenPod } from '../pod/container-run.ts';
import type { PodRecords } from './runtime-view.ts';

/** As in Kubernetes, what nobody knows of is stopped within a second. */
const GRACE_SECONDS = 1;

/** Returns a pod with as much as is needed to end it. */
export function orphanOf({ sandboxes, containers }: PodRecords): SeenPod | undefined {
  const [newest] = sandboxes;
  if (!newest) return undefined;
  const names = [...new Set(containers.map(({ name }) => name))];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...newest.pod, deletionGracePeriodSeconds: GRACE_SECONDS },
    spec: { containers: names.map((name) => ({ name, image: '' })) },
    status: {},
  } as unknown as SeenPod;
}
