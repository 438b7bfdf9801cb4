import type { KubeObject } from '../../kind.ts';
import { NAMES_PODS, nameWarnings, type PodLike, templateWarnings } from '../../warnings/pod.ts';
import { hasChanged } from '../../warnings/workload.ts';

const MANY_COMPLETIONS = 100_000;
const MUCH_AT_ONCE = 10_000;

interface Spec {
  readonly completionMode?: string;
  readonly completions?: number;
  readonly parallelism?: number;
  readonly template?: PodLike;
}

/** Of a job, or of jobs to come; `path` leads to its spec. */
export function jobWarnings(
  object: KubeObject,
  old: KubeObject | undefined,
  job: { spec: Spec; path: string },
): string[] {
  const { spec, path } = job;
  const found = old ? [] : nameWarnings(object, NAMES_PODS);
  if (!hasChanged(object, old)) return found;
  const { completionMode, completions = 0, parallelism = 0, template } = spec;
  if (completionMode === 'Indexed' && completions > MANY_COMPLETIONS && parallelism > MUCH_AT_ONCE) {
    const words =
      'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
    found.push(`${path}: ${words}`);
  }
  found.push(...templateWarnings(template, `${path}.template`));
  return found;
}
