/** Deletes history. */
import { badRequest } from '../../../api/errors.ts';
import type { TreeRequest } from '../../../api/served-action.ts';
import { keyOf } from '../../objects/cache/keys.ts';
import type { OperationPorts } from '../ports.ts';
import { revisionOf } from './moment.ts';

/** How much was deleted. */
interface PurgeAnswer {
  readonly changes: number;
  readonly bytes: number;
}

/**
 * Deletes the history of what the parameters `apiVersion`, `resource`, `namespace` and `name` select, or all of it; with
 * `before`, only what is older.
 */
export async function purgeHistory(core: OperationPorts, { query, user, signal }: TreeRequest): Promise<PurgeAnswer> {
  const text = query.get('before');
  const waiting = { options: undefined, signal };
  const before = text === null ? undefined : await revisionOf(core, { name: 'before', text }, waiting);
  const prefix = prefixOf(core, query);
  if (before === undefined && prefix === undefined && query.get('all') !== 'true') {
    throw badRequest('nothing says which history to delete: set before, a resource, or all=true');
  }
  const range = { ...(prefix === undefined ? {} : { prefix }), ...(before === undefined ? {} : { before }) };
  const { changes, bytes } = await core.archive.purge(range);
  core.log.info('history was deleted', { user: user.name, prefix, before, changes, bytes });
  return { changes, bytes };
}

function prefixOf({ registry }: OperationPorts, query: URLSearchParams): string | undefined {
  const plural = query.get('resource') ?? '';
  const [namespace, name] = [query.get('namespace') ?? '', query.get('name') ?? ''];
  if (plural === '') {
    if (namespace || name) throw badRequest('namespace and name need a resource');
    return undefined;
  }
  const kind = registry.resource(query.get('apiVersion') ?? 'v1', plural)?.kind;
  if (!kind)
    throw badRequest(`apiVersion and resource: the server has no ${plural} in ${query.get('apiVersion') ?? 'v1'}`);
  if (name && kind.scope === 'Namespaced' && !namespace) throw badRequest(`${plural} are in namespaces: set namespace`);
  return keyOf(kind, namespace, name);
}
