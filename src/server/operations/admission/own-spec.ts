import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { PodSpec } from '../../../kinds/shapes/pod/pod-spec.ts';
import type { AdmissionRequest } from '../../objects/admission/request.ts';

/** Returns a pod's spec for modification, copied only if shared: V8 validates a copy four times slower. */
export function ownSpec({ object, old }: AdmissionRequest): PodSpec {
  const pod = object as Pod;
  if (pod.spec === (old as Pod | undefined)?.spec) pod.spec = { ...pod.spec };
  return pod.spec;
}
