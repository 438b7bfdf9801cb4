/** Creates the pods of a Job. */
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { SeenJob } from '../../../api/seen-objects.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { newPod } from '../../shared/pods/new-pod.ts';
import { failureCounts } from './indexes.ts';
import { COMPLETION_INDEX } from './outcome.ts';
import { TRACKING } from './tracking.ts';

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

/** The maximum length of a name to which the server adds a suffix. */
const MAX_PREFIX_LENGTH = 58;

export function newJobPod(job: SeenJob): Draft<Pod> {
  const pod: any = newPod(job, Job, job.spec.template as any);
  const finalizers = new Set([...(pod.metadata.finalizers ?? []), TRACKING]);
  return { ...pod, metadata: { ...pod.metadata, finalizers: [...finalizers] } };
}

/** `before`: the failed pod of the same index, where failures are limited for each index. */
export function newIndexedPod(job: SeenJob, index: number, before: DeepReadonly<Pod> | undefined): Draft<Pod> {
  const { metadata, spec }: any = newJobPod(job);
  const isCounted = job.spec.backoffLimitPerIndex !== undefined;
  const counts = isCounted ? failureCounts(job, before) : {};
  return {
    metadata: {
      ...metadata,
      generateName: generateName(job.metadata.name ?? '', index),
      labels: { ...metadata.labels, [COMPLETION_INDEX]: String(index) },
      annotations: { ...metadata.annotations, ...counts, [COMPLETION_INDEX]: String(index) },
    },
    spec: {
      ...spec,
      hostname: `${job.metadata.name}-${index}`,
      containers: spec.containers.map(withIndexVariable),
      ...(spec.initContainers ? { initContainers: spec.initContainers.map(withIndexVariable) } : {}),
    },
  } as Draft<Pod>;
}

function generateName(name: string, index: number): string {
  const ending = `-${index}-`;
  return name.slice(0, MAX_PREFIX_LENGTH - ending.length) + ending;
}

/** A variable of the template takes precedence. */
function withIndexVariable(container: any): any {
  const env: readonly any[] = container.env ?? [];
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const valueFrom = { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } };
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom }] };
}
