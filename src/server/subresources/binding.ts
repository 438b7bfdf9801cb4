import { badRequest, conflict } from '../../base/errors.ts';
import { timestamp } from '../../base/timestamp.ts';
import { clone } from '../../base/tree.ts';
import { Binding } from '../../kinds/groups/core/binding.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { StatusReply } from '../api.ts';
import type { Entry } from '../cache/entry.ts';
import type { Core } from '../core.ts';
import { readBody } from '../objects/body.ts';
import { checkContent } from '../objects/check.ts';
import type { ApiRequest } from '../operation.ts';
import { withAdmittedBody } from '../transaction/admitted-body.ts';
import { transact } from '../transaction/transaction.ts';
import { success } from '../verbs/reply.ts';
import { named, type Subresource } from './subresource.ts';

type SentBinding = KubeObject & { target: { name?: string } };

const EXPECTED = { kind: Binding.kind, apiVersion: Binding.hub.apiVersion, schema: Binding.hub.schema };

/** Assigns a pod to a node, once. */
export const binding: Subresource = {
  name: 'binding',
  of: named('binding'),
  verbs: { create: bind },
};

/** The older form: a Binding that is created beside the pods, with the pod's name as its own. */
export async function createBinding(core: Core, { call, notes }: ApiRequest): Promise<StatusReply> {
  const pods = core.registry.resource('v1', 'pods');
  const name = (call.body as { metadata?: { name?: unknown } } | undefined)?.metadata?.name;
  if (!pods || typeof name !== 'string' || !name) throw badRequest('name must be provided');
  return bind(core, { resource: pods, call: { ...call, plural: 'pods', name, subresource: 'binding' }, notes });
}

async function bind(core: Core, request: ApiRequest): Promise<StatusReply> {
  const { resource, call } = request;
  const { name = '', apiVersion } = call;
  const body = {
    kind: Binding,
    read() {
      const sent = readBody(EXPECTED, request, core.registry) as SentBinding;
      sent.metadata.name ||= name;
      if (sent.metadata.name === name) return sent;
      throw badRequest('name in URL does not match name in Binding object');
    },
    check: (sent: SentBinding) => checkContent(Binding, sent, { old: undefined, subresource: undefined, apiVersion }),
  };
  await withAdmittedBody(core, request, body, (sent, admitted) => {
    const now = timestamp(core.clock.now());
    const next = (current: Entry) => assigned(clone(current.hub(resource.kind)) as Pod, sent, now);
    return transact(core, request, { type: 'update', part: 'any', next }, admitted);
  });
  return success({ name, kind: 'pods' });
}

function assigned(pod: Pod, { metadata: asked, target }: SentBinding, now: string): Pod {
  const { name = '', deletionTimestamp, uid, resourceVersion } = pod.metadata;
  const refuse = (why: string) => conflict({ group: '', plural: 'pods/binding' }, name, why);
  if (asked.uid && asked.uid !== uid) {
    throw refuse(`Precondition failed: UID in precondition: ${asked.uid}, UID in object meta: ${uid}`);
  }
  if (asked.resourceVersion && asked.resourceVersion !== resourceVersion) {
    throw refuse(
      `Precondition failed: ResourceVersion in precondition: ${asked.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
    );
  }
  if (deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec.nodeName) throw refuse(`pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
  if (pod.spec.schedulingGates?.length) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  pod.metadata.annotations = { ...pod.metadata.annotations, ...asked.annotations };
  if (Object.keys(pod.metadata.annotations).length === 0) delete pod.metadata.annotations;
  pod.spec.nodeName = target.name ?? '';
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: now } as const;
  const others = pod.status?.conditions?.filter((each) => each.type !== 'PodScheduled') ?? [];
  pod.status = { ...pod.status, conditions: [...others, scheduled] };
  return pod;
}
