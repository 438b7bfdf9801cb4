import { type Call, type Handle, RequestNotes } from '../../api/call.ts';
import { methodNotAllowed, noSuchPath } from '../../api/errors.ts';
import type { Verb } from '../../kinds/kind.ts';
import { checkWriteOptions } from '../objects/body/write-options.ts';
import type { ServedResource } from '../objects/registry/registry.ts';
import { admitConnection } from './admission/connection.ts';
import { toApiError } from './api-error.ts';
import { readPast } from './history/read-past.ts';
import type { Operation, OperationPorts } from './ports.ts';
import type { Subresource } from './subresources/subresource.ts';
import { create } from './verbs/create.ts';
import { remove } from './verbs/delete.ts';
import { deleteCollection } from './verbs/delete-collection.ts';
import { get } from './verbs/get.ts';
import { list } from './verbs/list.ts';
import { patch } from './verbs/patch.ts';
import { update } from './verbs/update.ts';
import { watch } from './verbs/watch.ts';
import { virtualOperations } from './virtual/all.ts';

const storedOperations: Readonly<Partial<Record<Verb, Operation>>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: deleteCollection,
};

/** Creates the server's entry point, which performs the operation of a call and turns failures into API errors. */
export function handler(core: OperationPorts, subresources: readonly Subresource[]): Handle {
  const byName = new Map<string, Subresource>(subresources.map((each) => [each.name, each]));
  return async (call, notes = new RequestNotes()) => {
    try {
      const resource = core.registry.resource(call.apiVersion, call.plural);
      if (!resource) throw noSuchPath();
      const { deprecated } = resource.version;
      if (deprecated) notes.warn(deprecated);
      if (call.options || call.patchType === 'apply') checkWriteOptions(call);
      if (call.past) return await readPast(core, { resource, call, notes });
      if (!call.subresource) {
        return await operationOf(resource, call)(core, { resource, call, notes });
      }
      const subresource = resource.subresources.get(call.subresource);
      if (!subresource) throw noSuchPath();
      const operation = byName.get(subresource.name)?.operations[call.verb];
      if (!operation) throw methodNotAllowed();
      const request = { resource, subresource, call, notes };
      if (subresource.descriptor.content.type === 'connection') await admitConnection(core, request);
      return await operation(core, request);
    } catch (error) {
      const { verb, apiVersion, plural } = call;
      throw toApiError(core, error, { verb, apiVersion, plural }, () => call.signal);
    }
  };
}

function operationOf({ kind, verbs }: ServedResource, { verb, namespace }: Call): Operation {
  const operation = (virtualOperations(kind) ?? storedOperations)[verb];
  if (!operation || !verbs.includes(verb)) throw methodNotAllowed();
  // Only lists and watches may span namespaces.
  if (kind.scope === 'Namespaced' && !namespace && verb !== 'list' && verb !== 'watch') throw methodNotAllowed();
  return operation;
}
