/** Creates pods from the template of a controller. */
import type { DeepReadonly, Draft, KindRef } from '../../../api/object-types.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Named } from '../../loop/plan.ts';
import { controllerReference } from '../ownership.ts';

interface Template {
  readonly metadata?: DeepReadonly<Pod['metadata']>;
  readonly spec?: DeepReadonly<Pod['spec']>;
}

/** Named after its owner, with a suffix that the server generates. */
export function newPod(owner: Named, kind: KindRef, template: DeepReadonly<Template>): Draft<Pod> {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const { name = '', namespace } = owner.metadata;
  return {
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels,
      annotations,
      finalizers,
      ownerReferences: [controllerReference(owner, kind)],
    },
    spec: template.spec,
  } as Draft<Pod>;
}
