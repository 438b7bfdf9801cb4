import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import type { PodSpec } from '../../kinds/shapes/pod/pod-spec.ts';
import type { AdmissionRequest } from './plugin.ts';

/**
 * The spec of a request's pod, to be changed. A copy is made only where it is shared with what is stored: the fields of a
 * copy lie in memory otherwise than those of a decoded spec, and checking it takes four times as long.
 */
export function ownSpec({ object, old }: AdmissionRequest): PodSpec {
  const pod = object as Pod;
  if (pod.spec === (old as Pod | undefined)?.spec) pod.spec = { ...pod.spec };
  return pod.spec;
}
