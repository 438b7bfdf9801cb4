/** Checks the disruption budget of an evicted pod, and charges it. */
import type { Call } from '../../../../api/call.ts';
import { ApiError, forbidden } from '../../../../api/errors.ts';
import { clone } from '../../../../base/json/tree.ts';
import { timestamp } from '../../../../base/time/timestamp.ts';
import type { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import { PodDisruptionBudget } from '../../../../kinds/groups/policy/pod-disruption-budget.ts';
import { fromLabelSelector } from '../../../../schema/selector/selector.ts';
import type { Entry } from '../../../objects/cache/entry/entry.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import type { TransactionPorts } from '../../../objects/transaction/ports.ts';
import { transact } from '../../../objects/transaction/transaction.ts';

/** Limit for evicted pods that the disruption controller has not counted yet. */
const MAX_DISRUPTED_PODS = 2000;
const ALLOWED = 'DisruptionAllowed';
const REFUSED = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Returns the budget that selects the pod. Throws when several do, as Kubernetes does. */
export function budgetOf(core: TransactionPorts, { metadata }: Pod): PodDisruptionBudget | undefined {
  const found = core.cache
    .table(PodDisruptionBudget)
    .entries(metadata.namespace ?? '')
    .map((entry) => entry.hub(PodDisruptionBudget) as PodDisruptionBudget)
    .filter(({ spec }) => fromLabelSelector(spec.selector).matches(metadata.labels));
  if (found.length > 1) {
    const why = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new ApiError('InternalError', why);
  }
  return found[0];
}

/** Reports whether evicting the pod counts against its budget. A pod that is not ready may be exempt. */
export function countsAgainst(pod: Pod, { spec, status }: PodDisruptionBudget): boolean {
  if (pod.status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')) return true;
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return false;
  return !(status.currentHealthy >= status.desiredHealthy && status.desiredHealthy > 0);
}

/** Takes one disruption from the budget. Throws TooManyRequests when it allows none. */
export async function chargeBudget(
  core: TransactionPorts,
  budget: PodDisruptionBudget,
  { call, notes }: ApiRequest,
): Promise<void> {
  const { name = '' } = budget.metadata;
  const resource = core.registry.resource(PodDisruptionBudget.hub.apiVersion, PodDisruptionBudget.plural);
  if (!resource) return;
  const { namespace, user, options } = call;
  const write: Call = {
    verb: 'patch',
    apiVersion: PodDisruptionBudget.hub.apiVersion,
    plural: PodDisruptionBudget.plural,
    namespace,
    name,
    subresource: 'status',
    user,
    options,
  };
  const now = timestamp(core.clock.now());
  const next = (current: Entry) => {
    const charged = clone(current.hub(PodDisruptionBudget)) as PodDisruptionBudget;
    checkBudget(charged);
    charged.status = spent(charged, call.name ?? '', now);
    return charged;
  };
  await transact(core, { resource, call: write, notes }, { type: 'update', part: 'status', next });
}

export function checkBudget({ metadata, status }: PodDisruptionBudget): void {
  const { name = '' } = metadata;
  const resource = { group: 'policy', plural: 'poddisruptionbudget' };
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) throw budgetNotProcessed(name);
  if (status.disruptionsAllowed < 0) throw forbidden(resource, name, 'pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED_PODS) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden(resource, name, why);
  }
  if (status.disruptionsAllowed === 0) throw rejected(whyNot(name, status));
}

export function budgetNotProcessed(name: string): ApiError {
  return rejected(`The disruption budget ${name} is still being processed by the server.`, 10);
}

function rejected(message: string, retryAfterSeconds?: number): ApiError {
  const causes = [{ reason: 'DisruptionBudget', message }];
  return new ApiError('TooManyRequests', REFUSED, {
    details: { causes, retryAfterSeconds: retryAfterSeconds || undefined },
  });
}

function whyNot(name: string, { conditions, currentHealthy, desiredHealthy }: PodDisruptionBudget['status']): string {
  const condition = conditions?.find(({ type, status }) => type === ALLOWED && status === 'False');
  const words = `The disruption budget ${name} does not allow evicting pods currently`;
  if (condition?.message && condition.reason === 'SyncFailed') {
    return `${words} because it failed sync: ${condition.message}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  return condition?.message ? `${words} (${condition.reason}): ${condition.message}` : words;
}

function spent({ status, metadata }: PodDisruptionBudget, pod: string, now: string): PodDisruptionBudget['status'] {
  const disruptionsAllowed = status.disruptionsAllowed - 1;
  const next = { ...status, disruptionsAllowed, disruptedPods: { ...status.disruptedPods, [pod]: now } };
  if (disruptionsAllowed > 0) return next;
  const others = status.conditions?.filter(({ type }) => type !== ALLOWED) ?? [];
  const old = status.conditions?.find(({ type }) => type === ALLOWED);
  const lastTransitionTime = old?.status === 'False' ? old.lastTransitionTime : now;
  const observedGeneration = status.observedGeneration ?? metadata.generation;
  const condition = { type: ALLOWED, status: 'False', reason: 'InsufficientPods', message: '' } as const;
  return { ...next, conditions: [...others, { ...condition, observedGeneration, lastTransitionTime }] };
}
