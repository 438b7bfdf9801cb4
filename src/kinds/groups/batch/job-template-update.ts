/**
 * Updates of a Job's pod template: it is immutable, except that scheduling directives and resources of a suspended Job
 * without pods may change.
 */
import { deepEqual } from '../../../base/json/tree.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import type { PodSpec } from '../../shapes/pod/pod-spec.ts';
import type { JobObject } from './job-status.ts';

const IMMUTABLE = 'field is immutable';

/** A kind's rule. */
export function templateUpdate(job: JobObject, { oldRoot }: RuleContext<JobObject, JobObject>): readonly FieldError[] {
  if (!oldRoot) return [];
  const { template } = job.spec;
  const before = oldRoot.spec.template;
  if (deepEqual(template, before)) return [];
  if (!isIdle(oldRoot)) return [invalid('spec.template', template, IMMUTABLE)];
  return deepEqual(fixedParts(template.spec), fixedParts(before.spec))
    ? []
    : [invalid('spec.template.spec', template.spec, IMMUTABLE)];
}

/** Reports whether the Job is suspended and has no pods: it has not started, or all its pods are gone. */
function isIdle({ spec, status = {} }: JobObject): boolean {
  const { active = 0, startTime, conditions = [] } = status;
  const atRest = conditions.some(({ type, status: is }) => type === 'Suspended' && is === 'True');
  return spec.suspend === true && active === 0 && (startTime === undefined || atRest);
}

/** A pod spec without the parts that may change: scheduling directives and resources. */
function fixedParts({ nodeSelector: _, tolerations: __, schedulingGates: ___, affinity, ...spec }: PodSpec): unknown {
  const { nodeAffinity: ____, ...otherAffinity } = affinity ?? {};
  const fixed = {
    ...spec,
    containers: (spec.containers ?? []).map(withoutResources),
    initContainers: (spec.initContainers ?? []).map(withoutResources),
  };
  return Object.keys(otherAffinity).length ? { ...fixed, affinity: otherAffinity } : fixed;
}

const withoutResources = ({ resources: _, ...container }: PodSpec['containers'][number]) => container;
