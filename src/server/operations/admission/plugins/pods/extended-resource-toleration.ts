import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { isExtended } from '../../../../../kinds/shapes/pod/resource-names.ts';
import type { Toleration } from '../../../../../kinds/shapes/pod/scheduling/toleration.ts';
import { ownSpec } from '../../own-spec.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

/** Makes pods that request an extended resource tolerate the taint of the same name on nodes that have it. */
export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  keepsDefaults: true,

  handles: (kind, operation, subresource) =>
    kind === Pod && (operation === 'CREATE' || operation === 'UPDATE') && !subresource,

  admit(_, request) {
    const pod = request.object as Pod;
    const asked = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])]
      .flatMap(({ resources }) => Object.keys(resources.requests ?? {}))
      .filter(isExtended);
    const { tolerations = [] } = pod.spec;
    const missing = [...new Set(asked)]
      .sort()
      .map(tolerationOf)
      .filter((each) => !tolerations.some(sameAs(each)));
    if (missing.length > 0) ownSpec(request).tolerations = [...tolerations, ...missing];
  },
};

const tolerationOf = (key: string): Toleration => ({ key, operator: 'Exists', effect: 'NoSchedule' });

const sameAs = (one: Toleration) => (other: Toleration) =>
  one.key === other.key && one.operator === other.operator && one.effect === other.effect && !other.value;
