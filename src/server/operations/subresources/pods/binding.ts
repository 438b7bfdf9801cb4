import { badRequest, conflict } from '../../../../api/errors.ts';
import type { StatusReply } from '../../../../api/reply.ts';
import { extended } from '../../../../base/json/tree.ts';
import { timestamp } from '../../../../base/time/timestamp.ts';
import { Binding } from '../../../../kinds/groups/core/binding.ts';
import type { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import { dnsSubdomain } from '../../../../schema/names.ts';
import { readBody } from '../../../objects/body/body.ts';
import { checkContent } from '../../../objects/body/check.ts';
import type { Entry } from '../../../objects/cache/entry/entry.ts';
import { bodyTypeOf } from '../../../objects/registry/descriptor.ts';
import { type ApiRequest, updatedPart } from '../../../objects/registry/registry.ts';
import { type AdmittedBody, withAdmittedBody } from '../../../objects/transaction/admitted-body.ts';
import type { TransactionPorts } from '../../../objects/transaction/ports.ts';
import { transact } from '../../../objects/transaction/transaction.ts';
import { success } from '../../verbs/reply.ts';
import type { Subresource } from '../subresource.ts';

const BODY = bodyTypeOf(Binding);

/** Assigns a pod to a node. A pod that has a node is not reassigned. */
export const binding: Subresource<'binding'> = {
  name: 'binding',
  operations: { create: bind },
  content: { type: 'body', of: () => BODY },
  updates: 'any',
};

export async function bind(core: TransactionPorts, request: ApiRequest): Promise<StatusReply> {
  const { resource, call } = request;
  const { name = '', apiVersion } = call;
  const body: AdmittedBody<Binding> = {
    read() {
      const sent = readBody(request, core.registry) as Binding;
      sent.metadata.name ||= name;
      if (sent.metadata.name === name) return sent;
      throw badRequest('name in URL does not match name in Binding object');
    },
    check: (sent) => checkContent(Binding, sent, { old: undefined, subresource: undefined, apiVersion }),
  };
  await withAdmittedBody(core, request, body, (sent, admitted) => {
    const now = timestamp(core.clock.now());
    const next = (current: Entry) => assigned(current.hub(resource.kind) as Pod, sent, now);
    // Only the node in the spec changes. Schedulers send thousands of bindings a minute.
    const hasValidSpec = dnsSubdomain(sent.target.name ?? '').length === 0;
    return transact(core, request, { type: 'update', part: updatedPart(request), next, hasValidSpec }, admitted);
  });
  return success({ name, kind: 'pods' });
}

/** Returns the pod, assigned to the node of the binding. Throws a Conflict when it cannot be. */
function assigned(pod: Pod, { metadata: sent, target }: Binding, now: string): Pod {
  const { name = '', deletionTimestamp, uid, resourceVersion } = pod.metadata;
  const rejection = (why: string) => conflict({ group: '', plural: 'pods/binding' }, name, why);
  if (sent.uid && sent.uid !== uid) {
    throw rejection(`Precondition failed: UID in precondition: ${sent.uid}, UID in object meta: ${uid}`);
  }
  if (sent.resourceVersion && sent.resourceVersion !== resourceVersion) {
    throw rejection(
      `Precondition failed: ResourceVersion in precondition: ${sent.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
    );
  }
  if (deletionTimestamp) throw rejection(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec.nodeName) throw rejection(`pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
  if (pod.spec.schedulingGates?.length) throw rejection(`pod ${name} has non-empty .spec.schedulingGates`);
  // Everything else is shared with the current pod, so it is neither compared nor checked again.
  const metadata = { ...pod.metadata };
  if (Object.keys(sent.annotations ?? {}).length > 0) {
    metadata.annotations = { ...metadata.annotations, ...sent.annotations };
  }
  const spec = extended(pod.spec, { nodeName: target.name ?? '' });
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: now } as const;
  const others = pod.status?.conditions?.filter((each) => each.type !== 'PodScheduled') ?? [];
  return { ...pod, metadata, spec, status: extended(pod.status, { conditions: [...others, scheduled] }) };
}
