import { badRequest, isApiError, notFound } from '../../base/errors.ts';
import { timestamp } from '../../base/timestamp.ts';
import { clone } from '../../base/tree.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { Eviction } from '../../kinds/groups/policy/eviction.ts';
import type { PodDisruptionBudget } from '../../kinds/groups/policy/pod-disruption-budget.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { DeleteOptions } from '../../kinds/shapes/meta/delete-options.ts';
import type { Admission } from '../admission/chain.ts';
import type { Call } from '../api.ts';
import type { Entry } from '../cache/entry.ts';
import { keyOf } from '../cache/keys.ts';
import type { Core } from '../core.ts';
import { readBody } from '../objects/body.ts';
import { type DeletePlan, deletePlan } from '../objects/delete-options.ts';
import type { ApiRequest } from '../operation.ts';
import { withAdmittedBody } from '../transaction/admitted-body.ts';
import { checkDeletePreconditions } from '../transaction/delete.ts';
import { transact } from '../transaction/transaction.ts';
import { success } from '../verbs/reply.ts';
import { budgetNotProcessed, budgetOf, chargeBudget, checkBudget, countsAgainst } from './disruption-budget.ts';
import { named, type Subresource } from './subresource.ts';

type SentEviction = KubeObject & { deleteOptions?: DeleteOptions };

/** Deletes a pod if its disruption budget allows it. */
export const eviction: Subresource = {
  name: 'eviction',
  of: named('eviction'),
  verbs: {
    async create(core, request) {
      const { name = '', apiVersion, options } = request.call;
      const planOf = ({ deleteOptions }: SentEviction) =>
        deletePlan({ apiVersion, body: deleteOptions, ...(options ? { options } : {}) }, core.registry);
      const body = {
        kind: Eviction,
        read: () => readEviction(core, request),
        dryRun: (sent: SentEviction) => planOf(sent).dryRun,
      };
      let charged: Promise<void> | undefined;
      const charge = (budget: PodDisruptionBudget) => {
        charged ??= chargeBudget(core, budget, request);
        return charged;
      };
      await withAdmittedBody(core, request, body, (sent, admitted) =>
        evict(core, request, { plan: planOf(sent), admitted, charge }),
      );
      return success({ name, kind: 'pods' });
    },
  },
};

function readEviction(core: Core, { call, notes }: ApiRequest): SentEviction {
  const apiVersion = (call.body as { apiVersion?: unknown } | undefined)?.apiVersion;
  const asked = apiVersion === 'policy/v1beta1' ? 'policy/v1beta1' : 'policy/v1';
  const body = typeof call.body === 'object' && call.body ? { ...call.body, apiVersion: asked } : call.body;
  const expected = { kind: 'Eviction', apiVersion: asked, schema: Eviction.hub.schema };
  const sent = readBody(expected, { call: { ...call, body }, notes }, core.registry) as SentEviction;
  const { name } = sent.metadata;
  if (name && name !== call.name) throw badRequest('name in URL does not match name in Eviction object');
  return sent;
}

interface Step {
  readonly plan: DeletePlan;
  readonly admitted: Admission | undefined;
  /** Charges a budget, once for all attempts. */
  readonly charge: (budget: PodDisruptionBudget) => Promise<void>;
}

async function evict(core: Core, request: ApiRequest, { plan: asked, admitted, charge }: Step): Promise<void> {
  const { resource, call } = request;
  const { namespace = '', name = '' } = call;
  await core.cache.fresh();
  const entry = core.cache.entry(keyOf(resource.kind, namespace, name));
  if (!entry) throw notFound(resource.kind, name);
  const pod = entry.hub(resource.kind) as Pod;
  const budget = isPastBudgets(pod) ? undefined : budgetOf(core, pod);
  if (budget && countsAgainst(pod, budget)) {
    if (asked.dryRun) checkBudget(budget);
    else await charge(budget);
  }
  // The budget was not charged for a pod that is not ready. The pod must not have become ready meanwhile.
  const isGuarded = budget && !countsAgainst(pod, budget) && asked.resourceVersion === undefined;
  const guarded = isGuarded ? { ...asked, resourceVersion: pod.metadata.resourceVersion } : asked;
  try {
    const plan = await markAsTarget(core, request, guarded);
    await transact(core, request, { type: 'delete', plan }, admitted);
  } catch (error) {
    if (isGuarded && isApiError(error, 'Conflict')) throw budgetNotProcessed(budget.metadata.name ?? '');
    throw error;
  }
}

const IDLE_PHASES: readonly (string | undefined)[] = [undefined, 'Pending', 'Succeeded', 'Failed'];

/** Whether no budget counts the pod: it does not run, or is being deleted already. */
function isPastBudgets({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || IDLE_PHASES.includes(status.phase);
}

/** Gives the pod a condition that says why it is deleted. Returns the plan for the pod as it is then. */
async function markAsTarget(core: Core, request: ApiRequest, plan: DeletePlan): Promise<DeletePlan> {
  if (plan.dryRun) return plan;
  const { resource, call, notes } = request;
  const now = timestamp(core.clock.now());
  const { body: _, ...rest } = call;
  const write: Call = { ...rest, verb: 'patch', subresource: 'status' };
  const next = (current: Entry) => {
    const pod = clone(current.hub(resource.kind)) as Pod;
    checkDeletePreconditions(resource.kind, pod, plan);
    pod.status = withTarget(pod.status, now);
    return pod;
  };
  const { entry } = await transact(core, { resource, call: write, notes }, { type: 'update', part: 'status', next });
  if (plan.resourceVersion === undefined || !entry) return plan;
  return { ...plan, resourceVersion: String(entry.revision) };
}

function withTarget(status: Pod['status'], now: string): Pod['status'] {
  const type = 'DisruptionTarget';
  const old = status.conditions?.find((condition) => condition.type === type);
  const lastTransitionTime = old?.status === 'True' ? old.lastTransitionTime : now;
  const words = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' } as const;
  const target = { type, status: 'True', ...words, lastTransitionTime } as const;
  const others = status.conditions?.filter((condition) => condition.type !== type) ?? [];
  return { ...status, conditions: [...others, target] };
}
