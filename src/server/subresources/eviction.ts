import { badRequest, isApiError, notFound } from '../../base/errors.ts';
import { timestamp } from '../../base/timestamp.ts';
import { clone } from '../../base/tree.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { Eviction } from '../../kinds/groups/policy/eviction.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { DeleteOptions } from '../../kinds/shapes/meta/delete-options.ts';
import type { Call, StatusReply } from '../api.ts';
import { keyOf } from '../cache/keys.ts';
import type { Core } from '../core.ts';
import { readBody } from '../objects/body.ts';
import { change } from '../objects/change.ts';
import { type DeletePlan, deletePlan } from '../objects/delete-options.ts';
import { checkPreconditions, removeObject } from '../objects/removal.ts';
import type { ApiRequest } from '../operation.ts';
import { success } from '../verbs/delete.ts';
import { budgetOf, check, isMissed, spend, stillProcessed } from './disruption-budget.ts';
import { named, type Subresource } from './subresource.ts';

/** Asks a pod to leave. Without a disruption budget in its way it is a delete. */
export const eviction: Subresource = {
  name: 'eviction',
  of: named('eviction'),
  verbs: {
    async create(core, request) {
      const { resource, call } = request;
      const { name = '' } = call;
      const sent = readEviction(core, request);
      if (sent.metadata.name && sent.metadata.name !== name)
        throw badRequest('name in URL does not match name in Eviction object');
      const plan = deletePlan({ ...call, body: sent.deleteOptions }, core.registry);
      const opening = { operation: 'CREATE', resource, object: sent, old: undefined, dryRun: plan.dryRun } as const;
      await core.admission.open(core, request, opening)?.run();
      return evict(core, { ...request, plan });
    },
  },
};

function readEviction(core: Core, { call, notes }: ApiRequest): KubeObject & { deleteOptions?: DeleteOptions } {
  const apiVersion = (call.body as { apiVersion?: unknown } | undefined)?.apiVersion;
  const asked = apiVersion === 'policy/v1beta1' ? 'policy/v1beta1' : 'policy/v1';
  const body = typeof call.body === 'object' && call.body ? { ...call.body, apiVersion: asked } : call.body;
  const expected = { kind: 'Eviction', apiVersion: asked, schema: Eviction.hub.schema };
  return readBody(expected, { call: { ...call, body }, notes }, core.registry) as KubeObject & {
    deleteOptions?: DeleteOptions;
  };
}

interface EvictionRequest extends ApiRequest {
  readonly plan: DeletePlan;
}

async function evict(core: Core, asked: EvictionRequest): Promise<StatusReply> {
  const { resource } = asked;
  const { namespace = '', name = '' } = asked.call;
  await core.cache.fresh();
  const entry = core.cache.entry(keyOf(resource.kind, namespace, name));
  if (!entry) throw notFound(resource.kind, name);
  const pod = entry.hub(resource.kind) as Pod;
  const budget = isPastBudgets(pod) ? undefined : budgetOf(core, pod);
  if (budget && isMissed(pod, budget)) {
    if (asked.plan.dryRun) check(budget);
    else await spend(core, budget, asked);
  }
  // A pod that is not missed may have become ready meanwhile, and then it would be.
  const isGuarded = budget && !isMissed(pod, budget) && asked.plan.resourceVersion === undefined;
  const plan = isGuarded ? { ...asked.plan, resourceVersion: pod.metadata.resourceVersion } : asked.plan;
  try {
    await removeObject(core, resource, { namespace, name, plan: await marked(core, { ...asked, plan }) });
  } catch (error) {
    if (isGuarded && isApiError(error, 'Conflict')) throw stillProcessed(budget.metadata.name ?? '');
    throw error;
  }
  return success({ name, kind: 'pods' });
}

const IDLE: readonly (string | undefined)[] = [undefined, 'Pending', 'Succeeded', 'Failed'];

/** It does not run, or has been told to go already: nobody loses anything. */
function isPastBudgets({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || IDLE.includes(status.phase);
}

/** The pod says why it goes. Answers the plan for what it is then. */
async function marked(core: Core, { resource, call, notes, plan }: EvictionRequest): Promise<DeletePlan> {
  if (plan.dryRun) return plan;
  const now = timestamp(core.clock.now());
  const { body: _, ...rest } = call;
  const write: Call = { ...rest, verb: 'patch', subresource: 'status' };
  const { entry } = await change(
    core,
    { resource, call: write, notes },
    {
      part: 'status',
      wanted: (current) => {
        const pod = clone(current.hub(resource.kind)) as Pod;
        checkPreconditions(resource.kind, pod, plan);
        delete pod.metadata.resourceVersion;
        pod.status = withTarget(pod.status, now);
        return pod;
      },
    },
  );
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
