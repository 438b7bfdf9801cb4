import { forbiddenError } from '../../access/authz/forbidden-error.ts';
import type { Access } from '../../access/ports.ts';
import type { ApiRequest } from '../../objects/registry/api-request.ts';

type Ports = Pick<Access, 'authorizer'>;

/**
 * Throws when a client may not create the object that it replaces or applies: the permission to change objects does not
 * include that.
 */
export async function checkMayCreate(core: Ports, { resource: { kind, version }, call }: ApiRequest): Promise<void> {
  const { user, namespace = '', name = '' } = call;
  const { group, version: named } = version;
  const object = { group, version: named, resource: kind.plural, subresource: '', namespace, name };
  const asked = { user, verb: 'create', ...object };
  const { verdict, reason } = await core.authorizer.authorize(asked);
  if (verdict !== 'allow') throw forbiddenError(asked, reason);
}
