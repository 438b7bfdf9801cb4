import { addAll } from '../../../base/collections/add-all.ts';
import type { KubeObject } from '../../kind.ts';
import { NAMES_PODS, nameWarnings, type PodLike, templateWarnings } from '../../warnings/pod.ts';
import { hasChanged } from '../../warnings/workload.ts';
import type { IndexedSpec } from './indexed-limits.ts';

const LARGE_JOB_COMPLETIONS = 100_000;
const LARGE_JOB_PARALLELISM = 10_000;

interface Spec extends Omit<IndexedSpec, 'maxFailedIndexes' | 'backoffLimitPerIndex'> {
  readonly template?: PodLike;
}

/** Warnings about a Job, or about the Job template of a CronJob. `path` is that of the spec. */
export function jobWarnings(
  object: KubeObject,
  old: KubeObject | undefined,
  job: { spec: Spec; path: string },
): string[] {
  const { spec, path } = job;
  const found = old ? [] : nameWarnings(object, NAMES_PODS);
  if (!hasChanged(object, old)) return found;
  const { completionMode, completions = 0, parallelism = 0, template } = spec;
  if (completionMode === 'Indexed' && completions > LARGE_JOB_COMPLETIONS && parallelism > LARGE_JOB_PARALLELISM) {
    const words =
      'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
    found.push(`${path}: ${words}`);
  }
  addAll(found, templateWarnings(template, `${path}.template`));
  return found;
}
