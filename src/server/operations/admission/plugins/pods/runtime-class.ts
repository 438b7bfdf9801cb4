import { compareQuantities, parseQuantity } from '../../../../../base/quantity.ts';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { RuntimeClass } from '../../../../../kinds/groups/node/runtime-class.ts';
import type { ResourceList } from '../../../../../kinds/shapes/container/resources.ts';
import type { Toleration } from '../../../../../kinds/shapes/pod/scheduling/toleration.ts';
import { type AdmissionRequest, rejected } from '../../../../objects/admission/request.ts';
import type { Reader } from '../../../../objects/ports.ts';
import { freshObjectNamed, objectNamed } from '../../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

type Ports = Pick<Reader, 'cache'>;

/** Adds the overhead, node selector and tolerations of a pod's RuntimeClass. */
export const runtimeClass: AdmissionPlugin = {
  name: 'RuntimeClass',
  keepsDefaults: true,

  handles: (kind, operation, subresource) => kind === Pod && operation === 'CREATE' && !subresource,

  admit(core, request) {
    const name = (request.object as Pod).spec.runtimeClassName;
    if (name === undefined) return undefined;
    const found = objectNamed(core, RuntimeClass, '', name);
    return found ? apply(request, found) : applyFresh(core, request, name);
  },

  forget(object) {
    const { spec } = object as Pod;
    if (spec.runtimeClassName !== undefined) delete spec.overhead;
  },

  validate(core, request) {
    const { overhead, runtimeClassName: name } = (request.object as Pod).spec;
    const wanted = name === undefined ? undefined : objectNamed(core, RuntimeClass, '', name)?.overhead;
    if (wanted) {
      if (sameAmounts(wanted.podFixed, overhead)) return;
      throw rejected(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    if (overhead === undefined) return;
    throw rejected(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  },
};

async function applyFresh(core: Ports, request: AdmissionRequest, name: string): Promise<void> {
  const found = await freshObjectNamed(core, RuntimeClass, '', name);
  if (!found) throw rejected(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  apply(request, found);
}

function apply(request: AdmissionRequest, { overhead, scheduling }: RuntimeClass): void {
  const { spec } = request.object as Pod;
  if (overhead) {
    if (Object.keys(spec.overhead ?? {}).length > 0 && !sameAmounts(overhead.podFixed, spec.overhead)) {
      throw rejected(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    if (overhead.podFixed) spec.overhead = { ...overhead.podFixed };
    else delete spec.overhead;
  }
  if (!scheduling) return;
  const { nodeSelector = {}, tolerations = [] } = scheduling;
  for (const [key, value] of Object.entries(nodeSelector)) {
    const own = spec.nodeSelector?.[key];
    if (own === undefined || own === value) continue;
    throw rejected(
      request,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
    );
  }
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector };
  if (tolerations.length > 0) spec.tolerations = merged(spec.tolerations ?? [], tolerations);
}

function sameAmounts(one: ResourceList = {}, other: ResourceList = {}): boolean {
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => {
    const amount = other[name];
    return amount !== undefined && compareQuantities(parseQuantity(one[name]!), parseQuantity(amount)) === 0;
  });
}

/** Merges tolerations; if one covers another, the wider one is kept. */
function merged(own: readonly Toleration[], added: readonly Toleration[]): Toleration[] {
  const all = [...own, ...added];
  return all
    .filter((each, index) => {
      return !all.some((other, position) => {
        if (position === index || !covers(other, each)) return false;
        // The first of two equal ones is kept.
        return !covers(each, other) || position < index;
      });
    })
    .map((each) => ({ ...each }));
}

function covers(wide: Toleration, narrow: Toleration): boolean {
  if (wide.key && wide.key !== narrow.key) return false;
  if (wide.effect && wide.effect !== narrow.effect) return false;
  if (!wide.key && wide.operator !== 'Exists') return false;
  if (wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return narrow.operator !== 'Exists' && (wide.value ?? '') === (narrow.value ?? '');
}
