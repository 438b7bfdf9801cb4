import { badRequest, conflict } from '../../base/errors.ts';
import { timestamp } from '../../base/timestamp.ts';
import { clone } from '../../base/tree.ts';
import { Binding } from '../../kinds/groups/core/binding.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { validate } from '../../schema/validate.ts';
import type { StatusReply } from '../api.ts';
import type { Core } from '../core.ts';
import { readBody } from '../objects/body.ts';
import { change } from '../objects/change.ts';
import { invalidObject } from '../objects/check.ts';
import type { ApiRequest } from '../operation.ts';
import { success } from '../verbs/delete.ts';
import { named, type Subresource } from './subresource.ts';

/** Puts a pod on a node, once. */
export const binding: Subresource = {
  name: 'binding',
  of: named('binding'),
  verbs: { create: bind },
};

/** The older form: a Binding created beside the pods, with the pod's name as its own. */
export async function createBinding(core: Core, { call, notes }: ApiRequest): Promise<StatusReply> {
  const pods = core.registry.resource('v1', 'pods');
  const name = (call.body as { metadata?: { name?: unknown } } | undefined)?.metadata?.name;
  if (!pods || typeof name !== 'string' || !name) throw badRequest('name must be provided');
  return bind(core, { resource: pods, call: { ...call, plural: 'pods', name, subresource: 'binding' }, notes });
}

async function bind(core: Core, request: ApiRequest): Promise<StatusReply> {
  const { resource, call } = request;
  const { name = '' } = call;
  const expected = { kind: 'Binding', apiVersion: 'v1', schema: Binding.hub.schema };
  const sent: any = readBody(expected, request, core.registry);
  if (sent.metadata.name && sent.metadata.name !== name)
    throw badRequest('name in URL does not match name in Binding object');
  const errors = validate(Binding.hub.schema, sent, {
    operation: 'create',
    old: undefined,
    subresource: undefined,
    apiVersion: call.apiVersion,
  });
  const whole = { operation: 'create', old: undefined, parent: undefined, root: sent, oldRoot: undefined } as const;
  for (const rule of Binding.rules ?? []) {
    errors.push(...rule(sent, { ...whole, subresource: undefined, apiVersion: call.apiVersion }));
  }
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'Binding' }, name, errors);
  const opening = { operation: 'CREATE', resource, object: sent, old: undefined } as const;
  await core.admission.open(core, request, opening)?.run();
  const now = timestamp(core.clock.now());
  await change(core, request, {
    part: 'any',
    wanted: (current) => assigned(clone(current.hub(resource.kind)) as Pod, sent, now),
  });
  return success({ name, kind: 'pods' });
}

function assigned(pod: Pod, sent: { target: { name?: string }; metadata: Pod['metadata'] }, now: string): Pod {
  const { name = '', deletionTimestamp, uid, resourceVersion } = pod.metadata;
  const refuse = (why: string) => conflict({ group: '', plural: 'pods/binding' }, name, why);
  if (sent.metadata.uid && sent.metadata.uid !== uid) {
    throw refuse(`Precondition failed: UID in precondition: ${sent.metadata.uid}, UID in object meta: ${uid}`);
  }
  if (sent.metadata.resourceVersion && sent.metadata.resourceVersion !== resourceVersion) {
    throw refuse(
      `Precondition failed: ResourceVersion in precondition: ${sent.metadata.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
    );
  }
  if (deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec.nodeName) throw refuse(`pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
  if (pod.spec.schedulingGates?.length) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  pod.metadata.annotations = { ...pod.metadata.annotations, ...sent.metadata.annotations };
  if (Object.keys(pod.metadata.annotations).length === 0) delete pod.metadata.annotations;
  delete pod.metadata.resourceVersion;
  pod.spec.nodeName = sent.target.name ?? '';
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: now } as const;
  const others = pod.status?.conditions?.filter((each) => each.type !== 'PodScheduled') ?? [];
  pod.status = { ...pod.status, conditions: [...others, scheduled] };
  return pod;
}
