import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { PodSpec } from '../../../kinds/shapes/pod/pod-spec.ts';
import type { AdmissionRequest } from '../../objects/admission/request.ts';

/**
 * Returns the spec of a request's pod for modification. It is copied only if it is shared with the stored object: V8
 * gives a copy another hidden class than a decoded spec, and validating it takes four times as long.
 */
export function ownSpec({ object, old }: AdmissionRequest): PodSpec {
  const pod = object as Pod;
  if (pod.spec === (old as Pod | undefined)?.spec) pod.spec = { ...pod.spec };
  return pod.spec;
}
