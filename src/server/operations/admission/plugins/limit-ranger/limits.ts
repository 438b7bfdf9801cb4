/** Checks objects against the limits of their namespace, with Kubernetes' messages. */
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../../../../../base/quantity.ts';
import { PersistentVolumeClaim } from '../../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import type { LimitRange } from '../../../../../kinds/groups/core/quota/limit-range.ts';
import type { Kind } from '../../../../../kinds/kind.ts';
import { amountsOf } from '../../../../../kinds/quota/amounts.ts';
import type { ResourceList } from '../../../../../kinds/shapes/container/resources.ts';
import { type Amounts, containersTogether } from '../../../../../kinds/shapes/pod/pod-resources.ts';
import type { PodSpec } from '../../../../../kinds/shapes/pod/pod-spec.ts';

type Limit = NonNullable<LimitRange['spec']['limits']>[number];

/** The requests and limits of an object. */
interface Asked {
  readonly requests: ReadonlyMap<string, Quantity>;
  readonly limits: ReadonlyMap<string, Quantity>;
}

export function limitProblems(limits: readonly Limit[], kind: Kind, object: Pod | PersistentVolumeClaim): string[] {
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
