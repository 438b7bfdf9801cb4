import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { PriorityClass } from '../../../../../kinds/groups/scheduling/priority-class.ts';
import { type AdmissionRequest, rejected } from '../../../../objects/admission/request.ts';
import type { Reader } from '../../../../objects/ports.ts';
import { derivedFrom, objectNamed } from '../../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

type Ports = Pick<Reader, 'cache'>;

/** The default class. If there are several, the one with the lowest value is used. */
const theDefault = derivedFrom(PriorityClass, (classes) => {
  const marked = classes.filter(({ globalDefault }) => globalDefault);
  return marked.sort((a, b) => a.value - b.value)[0];
});

const NONE = { value: 0, preemptionPolicy: 'PreemptLowerPriority' } as const;

/** Sets the priority of a pod from its PriorityClass or the default one. Clients cannot set the number. */
export const priority: AdmissionPlugin = {
  name: 'Priority',
  keepsDefaults: true,

  handles(kind, operation, subresource) {
    return (
      (kind === Pod || kind === PriorityClass) && (operation === 'CREATE' || operation === 'UPDATE') && !subresource
    );
  },

  admit(core, request) {
    if (request.kind !== Pod) return;
    const pod = request.object as Pod;
    if (request.old) keep(pod, request.old as Pod);
    else assign(core, request, pod);
  },

  forget(object) {
    if (object.kind !== Pod.kind) return;
    const { spec } = object as Pod;
    delete spec.priority;
    delete spec.preemptionPolicy;
  },

  validate(core, request) {
    if (request.kind !== PriorityClass || !(request.object as PriorityClass).globalDefault) return;
    const existing = theDefault(core)?.metadata.name;
    if (existing === undefined || (request.old && existing === request.name)) return;
    throw rejected(request, `PriorityClass ${existing} is already marked as default. Only one default can exist`);
  },
};

/** Keeps the fields in an update by a client that does not support them. */
function keep(pod: Pod, old: Pod): void {
  const { priority: value, preemptionPolicy } = old.spec;
  // A spec without them is not shared with the stored object, so it may be changed.
  if (pod.spec.priority === undefined && value !== undefined) pod.spec.priority = value;
  if (pod.spec.preemptionPolicy === undefined && preemptionPolicy !== undefined) {
    pod.spec.preemptionPolicy = preemptionPolicy;
  }
}

function assign(core: Ports, request: AdmissionRequest, { spec }: Pod): void {
  const chosen = classOf(core, request, spec.priorityClassName);
  if ('metadata' in chosen && chosen.metadata.name) spec.priorityClassName = chosen.metadata.name;
  const { value, preemptionPolicy } = chosen;
  if (spec.priority !== undefined && spec.priority !== value) {
    throw rejected(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw rejected(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  spec.priority = value;
  if (preemptionPolicy !== undefined) spec.preemptionPolicy = preemptionPolicy;
}

function classOf(core: Ports, request: AdmissionRequest, name: string | undefined): PriorityClass | typeof NONE {
  if (!name) return theDefault(core) ?? NONE;
  const found = objectNamed(core, PriorityClass, '', name);
  if (!found) throw rejected(request, `no PriorityClass with name ${name} was found`);
  return found;
}
