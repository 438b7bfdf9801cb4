/** The fields of a pod, and its type for the hooks, rules and columns that pod.ts is put together from. */
import { s } from '../../../../schema/builders.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import type { KubeObject } from '../../../kind.ts';
import { PodSpec } from '../../../shapes/pod/pod-spec.ts';
import { PodStatus } from '../../../shapes/pod/pod-status.ts';

export const podFields = {
  spec: s.use(
    PodSpec,
    'Desired behaviour of the pod. After creation only images, tolerations (additions), ' +
      'activeDeadlineSeconds and scheduling gates (removals) can be changed.',
    { default: {} },
  ),
  status: s.use(PodStatus, { default: {} }),
};

export type Pod = KubeObject & ObjectType<typeof podFields>;
