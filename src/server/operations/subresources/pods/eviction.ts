import type { Call } from '../../../../api/call.ts';
import { badRequest, isApiError, notFound } from '../../../../api/errors.ts';
import { clone } from '../../../../base/json/tree.ts';
import { timestamp } from '../../../../base/time/timestamp.ts';
import type { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import { Eviction } from '../../../../kinds/groups/policy/eviction.ts';
import type { PodDisruptionBudget } from '../../../../kinds/groups/policy/pod-disruption-budget.ts';
import type { Admission } from '../../../objects/admission/request.ts';
import { decodeBody } from '../../../objects/body/body.ts';
import { type DeletePlan, deletePlan } from '../../../objects/body/delete-options.ts';
import type { Entry } from '../../../objects/cache/entry/entry.ts';
import { keyOf } from '../../../objects/cache/keys.ts';
import { bodyTypeOf } from '../../../objects/registry/descriptor.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import { type AdmittedBody, withAdmittedBody } from '../../../objects/transaction/admitted-body.ts';
import { checkDeletePreconditions } from '../../../objects/transaction/mutations/delete.ts';
import type { TransactionPorts } from '../../../objects/transaction/ports.ts';
import { transact } from '../../../objects/transaction/transaction.ts';
import { success } from '../../verbs/reply.ts';
import type { Subresource } from '../subresource.ts';
import { budgetNotProcessed, budgetOf, chargeBudget, checkBudget, countsAgainst } from './disruption-budget.ts';

const BODY = bodyTypeOf(Eviction);
const OLDER_VERSION = 'policy/v1beta1';

/** Deletes a pod if its disruption budget allows it. */
export const eviction: Subresource<'eviction'> = {
  name: 'eviction',
  operations: {
    async create(core, request) {
      const { name = '', apiVersion, options } = request.call;
      const planOf = ({ deleteOptions }: Eviction) =>
        deletePlan({ apiVersion, body: deleteOptions, options }, core.registry);
      const body: AdmittedBody<Eviction> = {
        read: () => readEviction(core, request),
        dryRun: (sent) => planOf(sent).dryRun,
      };
      let charged: Promise<void> | undefined;
      const chargeOnce = (budget: PodDisruptionBudget) => {
        charged ??= chargeBudget(core, budget, request);
        return charged;
      };
      await withAdmittedBody(core, request, body, (sent, admitted) =>
        evict(core, request, { plan: planOf(sent), admitted, chargeOnce }),
      );
      return success({ name, kind: 'pods' });
    },
  },
  content: { type: 'body', of: () => BODY },
};

/** Reads the body in either version of the kind, which have the same schema. */
function readEviction(core: TransactionPorts, { call, notes }: ApiRequest): Eviction {
  const named = (call.body as { apiVersion?: unknown } | undefined)?.apiVersion;
  const apiVersion = named === OLDER_VERSION ? OLDER_VERSION : BODY.apiVersion;
  const sent = decodeBody({ ...BODY, apiVersion }, { call, notes }, core.registry) as Eviction;
  const { name } = sent.metadata;
  if (name && name !== call.name) throw badRequest('name in URL does not match name in Eviction object');
  return sent;
}

interface Step {
  readonly plan: DeletePlan;
  readonly admitted: Admission | undefined;
  /** Charges a budget, only once even if the eviction is retried. */
  readonly chargeOnce: (budget: PodDisruptionBudget) => Promise<void>;
}

async function evict(
  core: TransactionPorts,
  request: ApiRequest,
  { plan: requested, admitted, chargeOnce }: Step,
): Promise<void> {
  const { resource, call } = request;
  const { namespace = '', name = '' } = call;
  await core.cache.fresh();
  const entry = core.cache.entry(keyOf(resource.kind, namespace, name));
  if (!entry) throw notFound(resource.kind, name);
  const pod = entry.hub(resource.kind) as Pod;
  const budget = isUncounted(pod) ? undefined : budgetOf(core, pod);
  if (budget && countsAgainst(pod, budget)) {
    if (requested.dryRun) checkBudget(budget);
    else await chargeOnce(budget);
  }
  // The budget is not charged for a pod that is not ready, so the delete must fail if the pod has become ready
  // meanwhile.
  const isGuarded = budget && !countsAgainst(pod, budget) && requested.resourceVersion === undefined;
  const guarded = isGuarded ? { ...requested, resourceVersion: pod.metadata.resourceVersion } : requested;
  try {
    const plan = await markAsTarget(core, request, guarded);
    await transact(core, request, { type: 'delete', plan }, admitted);
  } catch (error) {
    if (isGuarded && isApiError(error, 'Conflict')) throw budgetNotProcessed(budget.metadata.name ?? '');
    throw error;
  }
}

const IDLE_PHASES: readonly (string | undefined)[] = [undefined, 'Pending', 'Succeeded', 'Failed'];

/** Reports whether no budget counts the pod, because it is not running or is being deleted already. */
function isUncounted({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || IDLE_PHASES.includes(status.phase);
}

/** Adds a condition with the reason for the deletion to the pod. Returns the plan for the pod with that condition. */
async function markAsTarget(core: TransactionPorts, request: ApiRequest, plan: DeletePlan): Promise<DeletePlan> {
  if (plan.dryRun) return plan;
  const { resource, call, notes } = request;
  const now = timestamp(core.clock.now());
  const { body: _, ...rest } = call;
  const write: Call = { ...rest, verb: 'patch', subresource: 'status' };
  const next = (current: Entry) => {
    const pod = clone(current.hub(resource.kind)) as Pod;
    checkDeletePreconditions(resource.kind, pod, plan);
    pod.status = withDisruptionTarget(pod.status, now);
    return pod;
  };
  const { entry } = await transact(core, { resource, call: write, notes }, { type: 'update', part: 'status', next });
  if (plan.resourceVersion === undefined || !entry) return plan;
  return { ...plan, resourceVersion: String(entry.revision) };
}

function withDisruptionTarget(status: Pod['status'], now: string): Pod['status'] {
  const type = 'DisruptionTarget';
  const old = status.conditions?.find((condition) => condition.type === type);
  const lastTransitionTime = old?.status === 'True' ? old.lastTransitionTime : now;
  const cause = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' } as const;
  const target = { type, status: 'True', ...cause, lastTransitionTime } as const;
  const others = status.conditions?.filter((condition) => condition.type !== type) ?? [];
  return { ...status, conditions: [...others, target] };
}
