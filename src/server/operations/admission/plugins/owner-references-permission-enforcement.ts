import { deepEqual } from '../../../../base/json/tree.ts';
import { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import type { ObjectMeta } from '../../../../kinds/shapes/meta/object-meta.ts';
import type { ResourceAttributes } from '../../../access/authz/authorizer.ts';
import type { Access } from '../../../access/ports.ts';
import { type AdmissionRequest, rejected } from '../../../objects/admission/request.ts';
import type { Reader } from '../../../objects/ports.ts';
import type { AdmissionPlugin } from '../plugin.ts';

type Ports = Pick<Reader, 'registry'> & Pick<Access, 'authorizer'>;

type Owner = NonNullable<ObjectMeta['ownerReferences']>[number];

/**
 * Requires the permission to delete an object for setting its owner, since it is deleted with its owner. Blocking the
 * owner's deletion requires the permission to update the owner's finalizers.
 */
export const ownerReferencesPermissionEnforcement: AdmissionPlugin = {
  name: 'OwnerReferencesPermissionEnforcement',

  handles(kind, operation, subresource) {
    if (kind === Pod && subresource === 'status') return false;
    return operation === 'UPDATE' || (operation === 'CREATE' && !subresource);
  },

  validate(core, request) {
    const owners = ownersOf(request.object);
    if (deepEqual(owners, ownersOf(request.old))) return undefined;
    return check(core, request, owners);
  },
};

const ownersOf = (object: KubeObject | undefined): readonly Owner[] => object?.metadata.ownerReferences ?? [];

async function check(core: Ports, request: AdmissionRequest, owners: readonly Owner[]): Promise<void> {
  const { version, kind } = request.resource;
  if (request.old) {
    const reason = await denialOf(core, {
      user: request.user,
      verb: 'delete',
      group: version.group,
      version: version.version,
      resource: kind.plural,
      subresource: request.subresource ?? '',
      namespace: request.namespace,
      name: request.name,
    });
    if (reason !== undefined)
      throw rejected(request, `cannot set an ownerRef on a resource you can't delete: ${reason}`);
  }
  const before = new Set(
    ownersOf(request.old)
      .filter(({ blockOwnerDeletion }) => blockOwnerDeletion)
      .map(({ uid }) => uid),
  );
  for (const owner of owners) {
    if (!owner.blockOwnerDeletion || before.has(owner.uid)) continue;
    const reason = await denialOf(core, finalizersOf(core, request, owner));
    if (reason === undefined) continue;
    const why = `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}`;
    throw rejected(request, why);
  }
}

function finalizersOf(core: Ports, request: AdmissionRequest, owner: Owner): ResourceAttributes {
  const { apiVersion, kind: name } = owner;
  const found = core.registry.resourcesOf(apiVersion).find(({ kind }) => kind.kind === name);
  if (!found) {
    const why = `no matches for kind ${JSON.stringify(name)} in version ${JSON.stringify(apiVersion)}`;
    const words = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${name}`;
    throw rejected(request, `${words}: ${why}`);
  }
  const { kind, version } = found;
  return {
    user: request.user,
    verb: 'update',
    group: version.group,
    version: version.version,
    resource: kind.plural,
    subresource: 'finalizers',
    name: owner.name,
    namespace: kind.scope === 'Namespaced' ? request.namespace : '',
  };
}

/** Returns why the user is not allowed; undefined when they are. */
async function denialOf({ authorizer }: Ports, attributes: ResourceAttributes): Promise<string | undefined> {
  const { verdict, reason, error } = await authorizer.authorize(attributes);
  return verdict === 'allow' ? undefined : `${reason}, ${error ?? '<nil>'}`;
}
