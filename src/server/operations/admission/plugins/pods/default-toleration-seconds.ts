import { deepEqual, deepFreeze } from '../../../../../base/json/tree.ts';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import type { Toleration } from '../../../../../kinds/shapes/pod/scheduling/toleration.ts';
import { ownSpec } from '../../own-spec.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

/** Time for which pods stay on a node that is not ready or unreachable. */
const TOLERATION_SECONDS = 300;

const awayFor = (key: string): Toleration =>
  deepFreeze({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS });

const wanted = [awayFor('node.kubernetes.io/not-ready'), awayFor('node.kubernetes.io/unreachable')];

/** Makes pods tolerate a node that is not ready or unreachable for five minutes, unless they say otherwise. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  keepsDefaults: true,

  handles: (kind, operation, subresource) =>
    kind === Pod && (operation === 'CREATE' || operation === 'UPDATE') && !subresource,

  admit(_, request) {
    const pod = request.object as Pod;
    const { tolerations } = pod.spec;
    const missing = tolerations
      ? wanted.filter(({ key }) => !tolerations.some((each) => tolerates(each, key)))
      : wanted;
    if (missing.length > 0) ownSpec(request).tolerations = [...(tolerations ?? []), ...missing];
  },

  forget(object) {
    const { spec } = object as Pod;
    const tolerations = spec.tolerations?.filter((each) => !wanted.some((own) => deepEqual(own, each)));
    if (tolerations?.length) spec.tolerations = tolerations;
    else delete spec.tolerations;
  },
};

function tolerates({ key, effect }: Toleration, taint: string | undefined): boolean {
  return (!key || key === taint) && (!effect || effect === 'NoExecute');
}
