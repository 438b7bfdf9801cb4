import { compareQuantities } from '../../../../base/quantity.ts';
import { PersistentVolumeClaim } from '../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import { ResourceQuota } from '../../../../kinds/groups/core/resource-quota.ts';
import { Service } from '../../../../kinds/groups/core/service/service.ts';
import { addTo, amountsOf, amountsText, growth, listOf, NOTHING, only } from '../../../../kinds/quota/amounts.ts';
import { classesOf } from '../../../../kinds/quota/claims.ts';
import type { QuotaEvaluator } from '../../../../kinds/quota/evaluator.ts';
import { covers, evaluatorOf } from '../../../../kinds/quota/objects.ts';
import type { Amounts } from '../../../../kinds/shapes/pod/pod-resources.ts';
import type { Entry } from '../../../cache/entry.ts';
import type { Core } from '../../../core.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.ts';
import { refused } from '../../refusal.ts';
import { Turns } from './keyed-mutex.ts';

const turnsOf = new WeakMap<Core, Turns>();

/**
 * A namespace does not use more than its quotas allow. What an object uses is written into the quota's status in the same
 * commit as the object, against the revision that was looked at: so it holds under any number of writers and servers.
 * What is given back when objects go is counted by a controller.
 */
export const resourceQuota: AdmissionPlugin = {
  name: 'ResourceQuota',

  handles(kind, operation, subresource) {
    if (!evaluatorOf(kind)) return false;
    if (operation === 'CREATE') return !subresource;
    if (operation !== 'UPDATE') return false;
    if (kind === Pod) return !subresource || subresource === 'resize';
    if (kind === PersistentVolumeClaim) return !subresource || subresource === 'status';
    return kind === Service && !subresource;
  },

  validate(core, request) {
    const evaluator = evaluatorOf(request.kind);
    if (!evaluator || !mayUseMore(request)) return undefined;
    if (!quotasFor(core, request, evaluator).length) return undefined;
    return reserve(core, request, evaluator);
  },
};

/** Most updates leave alone what quotas count. */
function mayUseMore({ kind, subresource, object, old }: AdmissionRequest): boolean {
  if (!old) return true;
  if (kind === Pod && !subresource) {
    const [now, before] = [object as Pod, old as Pod];
    return (now.spec.activeDeadlineSeconds === undefined) !== (before.spec.activeDeadlineSeconds === undefined);
  }
  if (kind === PersistentVolumeClaim && subresource === 'status') {
    const [now, before] = [object as PersistentVolumeClaim, old as PersistentVolumeClaim];
    if (now.status.allocatedResources?.storage !== before.status.allocatedResources?.storage) return true;
    return classesOf(now).sort().join() !== classesOf(before).sort().join();
  }
  return true;
}

/** The quotas of the namespace that count the object, and for something that it uses. */
function quotasFor(core: Core, { namespace, object }: AdmissionRequest, evaluator: QuotaEvaluator): readonly Entry[] {
  return core.cache
    .table(ResourceQuota)
    .entries(namespace)
    .filter((entry) => {
      const quota = entry.hub(ResourceQuota) as ResourceQuota;
      return Object.keys(quota.status.hard ?? {}).some(evaluator.counts) && covers(quota, evaluator, object);
    });
}

/**
 * One writer of a namespace after the other: they would fail on each other's writes anyway. A dry run looks, too, and
 * leaves nothing.
 */
async function reserve(core: Core, request: AdmissionRequest, evaluator: QuotaEvaluator): Promise<void> {
  const release = await turnOf(core, request.namespace);
  request.onSettled(release);
  for (const { at } of quotasFor(core, request, evaluator)) {
    await core.commits.idle(at.key);
  }
  for (const entry of quotasFor(core, request, evaluator)) charge(core, request, { evaluator, entry });
}

function turnOf(core: Core, namespace: string): Promise<() => void> {
  let turns = turnsOf.get(core);
  if (!turns) {
    turns = new Turns();
    turnsOf.set(core, turns);
  }
  return turns.take(namespace);
}

interface Charge {
  readonly evaluator: QuotaEvaluator;
  readonly entry: Entry;
}

function charge(core: Core, request: AdmissionRequest, { evaluator, entry }: Charge): void {
  const quota = entry.hub(ResourceQuota) as ResourceQuota;
  const { name = '' } = quota.metadata;
  const hard = amountsOf(quota.status.hard);
  const used = amountsOf(quota.status.used);
  const limited = [...hard.keys()].filter(evaluator.counts);
  const missing = evaluator.missing?.(request.object, limited);
  if (missing) throw refused(request, `failed quota: ${name}: ${missing}`);
  if (!limited.every((resource) => used.has(resource))) {
    throw refused(request, `status unknown for quota: ${name}, resources: ${limited.sort().join(',')}`);
  }
  const asked = only(moreThanBefore(core, request, { quota, evaluator }), (resource) => hard.has(resource));
  if (asked.size === 0) return;
  const after = addTo(new Map(used), asked);
  const exceeded = [...asked.keys()].filter((each) => compareQuantities(after.get(each)!, hard.get(each)!) > 0);
  // What a volume has grown to is a fact.
  if (exceeded.length > 0 && request.subresource !== 'status') {
    const shown = (amounts: Amounts) => amountsText(only(amounts, (each) => exceeded.includes(each)));
    const words = `requested: ${shown(asked)}, used: ${shown(used)}, limited: ${shown(hard)}`;
    throw refused(request, `exceeded quota: ${name}, ${words}`);
  }
  const object = { ...quota, status: { ...quota.status, used: listOf(after) } };
  request.also.push({ kind: ResourceQuota, current: entry, part: 'status', object });
}

/** What the object uses that is not in the quota's sum already. */
function moreThanBefore(
  core: Core,
  request: AdmissionRequest,
  { quota, evaluator }: { quota: ResourceQuota; evaluator: QuotaEvaluator },
): Amounts {
  const { object, old } = request;
  const now = core.clock.now();
  const usage = evaluator.usage(object, now);
  const negative = [...usage.keys()].filter((each) => compareQuantities(usage.get(each)!, NOTHING) < 0);
  if (negative.length > 0) {
    throw refused(request, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  }
  return growth(usage, old && covers(quota, evaluator, old) ? evaluator.usage(old, now) : new Map());
}
