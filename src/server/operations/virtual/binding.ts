import { badRequest } from '../../../api/errors.ts';
import type { StatusReply } from '../../../api/reply.ts';
import { Binding } from '../../../kinds/groups/core/binding.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { bind, binding as subresource } from '../subresources/pods/binding.ts';
import type { VirtualResource } from './virtual-resource.ts';

/** The older form of `pods/NAME/binding`: the Binding has the name of the pod. */
export const binding: VirtualResource = { kind: Binding, operations: { create } };

async function create(core: TransactionPorts, { call, notes }: ApiRequest): Promise<StatusReply> {
  const resource = core.registry.resource(Pod.hub.apiVersion, Pod.plural);
  const name = (call.body as { metadata?: { name?: unknown } } | undefined)?.metadata?.name;
  if (!resource || typeof name !== 'string' || !name) throw badRequest('name must be provided');
  return bind(core, {
    resource,
    subresource: resource.subresources.get(subresource.name),
    call: { ...call, plural: Pod.plural, name, subresource: subresource.name },
    notes,
  });
}
