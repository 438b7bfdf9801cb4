import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../../../../../base/quantity.ts';
import { PersistentVolumeClaim } from '../../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { fillPodDefaults } from '../../../../../kinds/groups/core/pod/pod-defaults.ts';
import { LimitRange } from '../../../../../kinds/groups/core/quota/limit-range.ts';
import type { Kind } from '../../../../../kinds/kind.ts';
import { amountsOf } from '../../../../../kinds/quota/amounts.ts';
import type { Container } from '../../../../../kinds/shapes/container/container.ts';
import type { ResourceList } from '../../../../../kinds/shapes/container/resources.ts';
import { type Amounts, containersTogether } from '../../../../../kinds/shapes/pod/pod-resources.ts';
import type { PodSpec } from '../../../../../kinds/shapes/pod/pod-spec.ts';
import { rejected } from '../../../../objects/admission/request.ts';
import { objectsIn } from '../../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

const DEFAULTS_ANNOTATION = 'kubernetes.io/limit-ranger';

/** Applies the default requests and limits of a namespace to pods; rejects pods and claims outside its limits. */
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

type Limit = NonNullable<LimitRange['spec']['limits']>[number];

/** The requests and limits of an object. */
interface Asked {
  readonly requests: ReadonlyMap<string, Quantity>;
  readonly limits: ReadonlyMap<string, Quantity>;
}

function limitProblems(limits: readonly Limit[], kind: Kind, object: Pod | PersistentVolumeClaim): string[] {
  // Equal messages are reported once.
  return [...new Set(limits.flatMap((limit) => problemsOf(limit, kind, object)))];
}

function problemsOf(limit: Limit, kind: Kind, object: Pod | PersistentVolumeClaim): string[] {
  if (kind === PersistentVolumeClaim) {
    if (limit.type !== 'PersistentVolumeClaim') return [];
    return claimProblems(limit, amountsOf((object as PersistentVolumeClaim).spec.resources.requests));
  }
  if (kind !== Pod) return [];
  const { spec } = object as Pod;
  switch (limit.type) {
    case 'Container':
      return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
        judge(limit, { requests: amountsOf(resources.requests), limits: amountsOf(resources.limits) }),
      );
    case 'Pod':
      return judge(limit, { requests: ofPod(spec, 'requests'), limits: ofPod(spec, 'limits') });
    default:
      return [];
  }
}

/** Returns the amounts of a pod. Pod-level resources take precedence over the sum of its containers. */
function ofPod(spec: PodSpec, part: 'requests' | 'limits'): Amounts {
  const amounts = containersTogether(spec, part);
  for (const name of ['cpu', 'memory']) {
    const own = spec.resources?.[part]?.[name];
    if (own !== undefined) amounts.set(name, parseQuantity(own));
  }
  return amounts;
}

function claimProblems({ type, min, max }: Limit, requests: Amounts): string[] {
  const found = each(min, (name, least) => tooLittle(name, least, { type, requests, limits: new Map() }));
  const most = each(max, (name, enforced) => {
    const request = requests.get(name);
    const words = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
    if (!request) return `${words}.  No request is specified`;
    return more(request, enforced) ? `${words}, but request is ${formatQuantity(request)}` : undefined;
  });
  return [...found, ...most];
}

function judge({ type, min, max, maxLimitRequestRatio }: Limit, asked: Asked): string[] {
  const of = { type, ...asked };
  return [
    ...each(min, (name, least) => tooLittle(name, least, of)),
    ...each(max, (name, most) => tooMuch(name, most, of)),
    ...each(maxLimitRequestRatio, (name, ratio) => tooFarApart(name, ratio, of)),
  ];
}

function each(list: ResourceList = {}, problem: (name: string, enforced: Quantity) => string | undefined): string[] {
  const found = Object.keys(list)
    .sort()
    .map((name) => problem(name, parseQuantity(list[name]!)));
  return found.filter((text) => text !== undefined);
}

type Typed = Asked & { readonly type: string };

const more = (a: Quantity, b: Quantity) => compareQuantities(a, b) > 0;

function tooLittle(name: string, least: Quantity, { type, requests, limits }: Typed): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const words = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
  if (!request) return `${words}.  No request is specified`;
  if (more(least, request)) return `${words}, but request is ${formatQuantity(request)}`;
  return limit && more(least, limit) ? `${words}, but limit is ${formatQuantity(limit)}` : undefined;
}

function tooMuch(name: string, most: Quantity, { type, requests, limits }: Typed): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const words = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (!limit) return `${words}.  No limit is specified`;
  if (more(limit, most)) return `${words}, but limit is ${formatQuantity(limit)}`;
  return request && more(request, most) ? `${words}, but request is ${formatQuantity(request)}` : undefined;
}

function tooFarApart(name: string, ratio: Quantity, { type, requests, limits }: Typed): string | undefined {
  const request = numberOf(requests.get(name));
  const limit = numberOf(limits.get(name));
  const words = `${name} max limit to request ratio per ${type} is ${formatQuantity(ratio)}, but`;
  if (!request) return `${words} no request is specified or request is 0`;
  if (!limit) return `${words} no limit is specified or limit is 0`;
  return limit / request > numberOf(ratio) ? `${words} provided ratio is ${(limit / request).toFixed(6)}` : undefined;
}

function numberOf(quantity: Quantity | undefined): number {
  return quantity ? Number(quantity.mantissa) * 10 ** quantity.exponent : 0;
}
