/** Deletes history. */
import { badRequest } from '../../../api/errors.ts';
import type { TreeRequest } from '../../../api/served-action.ts';
import type { PurgeRange } from '../../../store/archive/archive.ts';
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
  const keys = keysOf(core, query);
  if (before === undefined && !keys && query.get('all') !== 'true') {
    throw badRequest('nothing says which history to delete: set before, a resource, or all=true');
  }
  const range: PurgeRange = before === undefined ? { ...keys } : { ...keys, before };
  const { changes, bytes } = await core.archive.purge(range);
  core.log.info('history was deleted', { user: user.name, ...range, changes, bytes });
  return { changes, bytes };
}

function keysOf({ registry }: OperationPorts, query: URLSearchParams): PurgeRange | undefined {
  const [plural, apiVersion] = [query.get('resource') ?? '', query.get('apiVersion') ?? 'v1'];
  const [namespace, name] = [query.get('namespace') ?? '', query.get('name') ?? ''];
  if (plural === '') {
    if (namespace || name) throw badRequest('namespace and name need a resource');
    return undefined;
  }
  const kind = registry.resource(apiVersion, plural)?.kind;
  if (!kind) throw badRequest(`apiVersion and resource: the server has no ${plural} in ${apiVersion}`);
  if (name && kind.scope === 'Namespaced' && !namespace) throw badRequest(`${plural} are in namespaces: set namespace`);
  const key = keyOf(kind, namespace, name);
  return name ? { key } : { prefix: key };
}
