/** Checks that do not depend on other pods: the operating system, and the abilities of the node. */
import type { SeenPod } from '../pod/container-run.ts';
import type { Rejection, SeenNode } from './rejection.ts';

const OS_LABEL = 'kubernetes.io/os';
const OS = 'linux';

export function platformRejection({ metadata, spec }: SeenPod, { status }: SeenNode): Rejection | undefined {
  const label = metadata.labels?.[OS_LABEL];
  if (label !== undefined && label !== OS) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (spec.os !== undefined && spec.os.name !== OS) {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  const isStrict = spec.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (isStrict && !status.features?.supplementalGroupsPolicy) {
    const message = 'SupplementalGroupsPolicy=Strict is not supported in this node';
    return { reason: 'SupplementalGroupsPolicyNotSupported', message };
  }
  return undefined;
}
