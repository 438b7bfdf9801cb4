import { memoized } from '../../../../../base/collections/memoized.ts';
import { compareQuantities } from '../../../../../base/quantity.ts';
import { PersistentVolumeClaim } from '../../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { ResourceQuota } from '../../../../../kinds/groups/core/quota/resource-quota.ts';
import { Service } from '../../../../../kinds/groups/core/service/service.ts';
import { addTo, amountsOf, amountsText, growth, listOf, NOTHING, only } from '../../../../../kinds/quota/amounts.ts';
import { classesOf } from '../../../../../kinds/quota/claims.ts';
import type { QuotaEvaluator } from '../../../../../kinds/quota/evaluator.ts';
import { covers, evaluatorOf } from '../../../../../kinds/quota/objects.ts';
import type { Amounts } from '../../../../../kinds/shapes/pod/pod-resources.ts';
import { type AdmissionRequest, rejected } from '../../../../objects/admission/request.ts';
import type { Entry } from '../../../../objects/cache/entry/entry.ts';
import type { Reader, Tools } from '../../../../objects/ports.ts';
import type { Writer } from '../../../../objects/transaction/ports.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Writer, 'commits'> & Pick<Tools, 'clock'>;

/**
 * Enforces the quotas of a namespace. The usage of an object is added to the quota's status in the same commit as the
 * object, on the condition that the quota has not changed, so limits hold with any number of writers and servers. A
 * controller counts released resources when objects are deleted.
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
    if (!evaluator || !mayRaiseUsage(request)) return undefined;
    if (!quotasFor(core, request, evaluator).length) return undefined;
    return reserve(core, request, evaluator);
  },
};

/** Reports whether the write can raise the usage. Most updates cannot. */
function mayRaiseUsage({ kind, subresource, object, old }: AdmissionRequest): boolean {
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

/** Returns the quotas of the namespace that apply to the object and limit resources that it uses. */
function quotasFor(core: Ports, { namespace, object }: AdmissionRequest, evaluator: QuotaEvaluator): readonly Entry[] {
  return core.cache
    .table(ResourceQuota)
    .entries(namespace)
    .filter((entry) => {
      const quota = entry.hub(ResourceQuota) as ResourceQuota;
      return Object.keys(quota.status.hard ?? {}).some(evaluator.counts) && covers(quota, evaluator, object);
    });
}

/** Charges all quotas. Writers in one namespace take turns, since they would otherwise conflict with each other. */
async function reserve(core: Ports, request: AdmissionRequest, evaluator: QuotaEvaluator): Promise<void> {
  const release = await mutexOf(core).lock(request.namespace);
  request.onSettled(release);
  for (const { at } of quotasFor(core, request, evaluator)) {
    await core.commits.idle(at.key);
  }
  for (const entry of quotasFor(core, request, evaluator)) charge(core, request, { evaluator, entry });
}

const mutexOf = memoized((_core: Ports) => new KeyedMutex());

interface Charge {
  readonly evaluator: QuotaEvaluator;
  readonly entry: Entry;
}

function charge(core: Ports, request: AdmissionRequest, { evaluator, entry }: Charge): void {
  const quota = entry.hub(ResourceQuota) as ResourceQuota;
  const { name = '' } = quota.metadata;
  const hard = amountsOf(quota.status.hard);
  const used = amountsOf(quota.status.used);
  const limited = [...hard.keys()].filter(evaluator.counts);
  const missing = evaluator.missing?.(request.object, limited);
  if (missing) throw rejected(request, `failed quota: ${name}: ${missing}`);
  if (!limited.every((resource) => used.has(resource))) {
    throw rejected(request, `status unknown for quota: ${name}, resources: ${limited.sort().join(',')}`);
  }
  const asked = only(additionalUsage(core, request, { quota, evaluator }), (resource) => hard.has(resource));
  if (asked.size === 0) return;
  const after = addTo(new Map(used), asked);
  const exceeded = [...asked.keys()].filter((each) => compareQuantities(after.get(each)!, hard.get(each)!) > 0);
  // A volume that has already grown cannot be rejected.
  if (exceeded.length > 0 && request.subresource !== 'status') {
    const shown = (amounts: Amounts) => amountsText(only(amounts, (each) => exceeded.includes(each)));
    const words = `requested: ${shown(asked)}, used: ${shown(used)}, limited: ${shown(hard)}`;
    throw rejected(request, `exceeded quota: ${name}, ${words}`);
  }
  const object = { ...quota, status: { ...quota.status, used: listOf(after) } };
  request.also.push({ kind: ResourceQuota, current: entry, part: 'status', object });
}

/** Returns the usage of the object beyond what the quota already includes for it. */
function additionalUsage(
  core: Ports,
  request: AdmissionRequest,
  { quota, evaluator }: { quota: ResourceQuota; evaluator: QuotaEvaluator },
): Amounts {
  const { object, old } = request;
  const now = core.clock.now();
  const usage = evaluator.usage(object, now);
  const negative = [...usage.keys()].filter((each) => compareQuantities(usage.get(each)!, NOTHING) < 0);
  if (negative.length > 0) {
    throw rejected(request, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  }
  return growth(usage, old && covers(quota, evaluator, old) ? evaluator.usage(old, now) : new Map());
}

/** A lock per key. Waiters acquire it in order of arrival. */
class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves when the lock is held, with a function that releases it. */
  async lock(key: string): Promise<() => void> {
    const before = this.#last.get(key);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = () => {
        if (this.#last.get(key) === held) this.#last.delete(key);
        resolve();
      };
    });
    this.#last.set(key, held);
    await before;
    return release;
  }
}
