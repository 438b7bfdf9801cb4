import { PersistentVolumeClaim } from '../../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { fillPodDefaults } from '../../../../../kinds/groups/core/pod/pod-defaults.ts';
import { LimitRange } from '../../../../../kinds/groups/core/quota/limit-range.ts';
import type { Container } from '../../../../../kinds/shapes/container/container.ts';
import type { ResourceList } from '../../../../../kinds/shapes/container/resources.ts';
import { rejected } from '../../../../objects/admission/rejection.ts';
import { objectsIn } from '../../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../../plugin.ts';
import { limitProblems } from './limits.ts';

const DEFAULTS_ANNOTATION = 'kubernetes.io/limit-ranger';

/**
 * Applies the default requests and limits of a namespace to pods, and rejects pods and claims that violate its limits.
 */
export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  keepsDefaults: true,

  handles(kind, operation, subresource) {
    if (kind === Pod) return operation === 'CREATE' ? !subresource : operation === 'UPDATE' && subresource === 'resize';
    return kind === PersistentVolumeClaim && (operation === 'CREATE' || operation === 'UPDATE') && !subresource;
  },

  admit(core, { kind, namespace, object, old }) {
    if (kind !== Pod || old?.metadata.deletionTimestamp) return;
    const ranges = objectsIn(core, LimitRange, namespace);
    if (ranges.length === 0) return;
    const pod = object as Pod;
    // A limit implies a request, so that only missing values are filled in.
    fillPodDefaults(pod.spec);
    for (const range of ranges) fillIn(pod, range);
  },

  forget(object) {
    if (object.kind === Pod.kind) forgetFilled(object as Pod);
  },

  validate(core, request) {
    if (request.old?.metadata.deletionTimestamp) return;
    for (const { spec } of objectsIn(core, LimitRange, request.namespace)) {
      const problems = limitProblems(spec.limits ?? [], request.kind, request.object as Pod | PersistentVolumeClaim);
      if (problems.length === 0) continue;
      throw rejected(request, problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`);
    }
  },
};

interface Filling {
  readonly limits: ResourceList;
  readonly requests: ResourceList;
}

function fillIn(pod: Pod, { spec }: LimitRange): void {
  const filling: Filling = { limits: {}, requests: {} };
  for (const { type, default: limits, defaultRequest } of spec.limits ?? []) {
    if (type !== 'Container') continue;
    Object.assign(filling.limits, limits);
    Object.assign(filling.requests, defaultRequest);
  }
  const messages: string[] = [];
  const { containers, initContainers } = pod.spec;
  const fill = (container: Container, words: string) => filled(container, filling, { words, messages });
  const next = { ...pod.spec };
  if (containers) next.containers = containers.map((each) => fill(each, 'container'));
  if (initContainers) next.initContainers = initContainers.map((each) => fill(each, 'init container'));
  if (messages.length === 0) return;
  pod.spec = next;
  const annotations = {
    ...pod.metadata.annotations,
    [DEFAULTS_ANNOTATION]: `LimitRanger plugin set: ${messages.join('; ')}`,
  };
  pod.metadata.annotations = annotations;
}

function filled(
  container: Container,
  { limits, requests }: Filling,
  { words, messages }: { words: string; messages: string[] },
): Container {
  const { resources } = container;
  const missingRequests = missing(requests, resources.requests);
  const missingLimits = missing(limits, resources.limits);
  if (missingRequests.length > 0) messages.push(`${missingRequests.join(', ')} request for ${words} ${container.name}`);
  if (missingLimits.length > 0) messages.push(`${missingLimits.join(', ')} limit for ${words} ${container.name}`);
  if (missingRequests.length === 0 && missingLimits.length === 0) return container;
  const next = { ...resources };
  if (missingLimits.length > 0) next.limits = { ...limits, ...resources.limits };
  if (missingRequests.length > 0) next.requests = { ...requests, ...resources.requests };
  return { ...container, resources: next };
}

const FILLED = /^(?<names>.+) (?<list>request|limit) for (?<words>container|init container) (?<name>\S+)$/;

/** Removes the fields listed in the annotation, and the annotation itself. */
function forgetFilled({ metadata, spec }: Pod): void {
  const text = metadata.annotations?.[DEFAULTS_ANNOTATION];
  if (text === undefined) return;
  delete metadata.annotations?.[DEFAULTS_ANNOTATION];
  for (const message of text.replace(/^LimitRanger plugin set: /, '').split('; ')) {
    const { names = '', list, words, name } = FILLED.exec(message)?.groups ?? {};
    const containers = words === 'container' ? spec.containers : (spec.initContainers ?? []);
    const resources = containers.find((container) => container.name === name)?.resources;
    const amounts = list === 'request' ? resources?.requests : resources?.limits;
    if (!resources || !amounts) continue;
    for (const each of names.split(', ')) delete amounts[each];
    if (Object.keys(amounts).length > 0) continue;
    if (list === 'request') delete resources.requests;
    else delete resources.limits;
  }
}

function missing(wanted: ResourceList, present: ResourceList = {}): string[] {
  return Object.keys(wanted)
    .filter((name) => !Object.hasOwn(present, name))
    .sort();
}
