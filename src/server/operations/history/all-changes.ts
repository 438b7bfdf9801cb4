/** The changes of all objects that a user may read. */
import { badRequest } from '../../../api/errors.ts';
import type { ChangeList } from '../../../api/past.ts';
import type { TreeRequest } from '../../../api/served-action.ts';
import { parseKey, ROOT } from '../../objects/cache/keys.ts';
import type { OperationPorts } from '../ports.ts';
import { changeOf } from './change.ts';
import { readChanges } from './change-page.ts';
import { type ChangeOptions, changeQuery } from './changes.ts';
import { knownKinds } from './known-kinds.ts';
import { ReadRights } from './rights.ts';

export async function allChanges(core: OperationPorts, { query, user, signal }: TreeRequest): Promise<ChangeList> {
  const namespace = query.get('namespace') ?? '';
  const asked = await changeQuery(core, optionsOf(query), { options: undefined, signal });
  const rights = new ReadRights(core, user);
  const page = await readChanges(
    core,
    { prefix: ROOT },
    {
      ...asked,
      async matches(change) {
        if (namespace && !isIn(namespace, change.key)) return false;
        return (await asked.matches(change)) && rights.mayRead(change.key);
      },
    },
  );
  const kinds = knownKinds(core.registry);
  return {
    kind: 'ChangeList',
    apiVersion: 'v1',
    metadata: { resourceVersion: String(page.revision), continue: page.next },
    items: page.changes.map((change) => changeOf(change, kinds.of(parseKey(change.key)?.table ?? ''))),
  };
}

/** Reports whether a key is that of an object in the namespace, or of the namespace itself. */
export function isIn(namespace: string, key: string): boolean {
  const parts = parseKey(key);
  return parts?.namespace === namespace || (parts?.table === 'core/namespaces' && parts.name === namespace);
}

function optionsOf(query: URLSearchParams): ChangeOptions {
  const text = (name: string) => query.get(name) ?? undefined;
  const limit = query.get('limit');
  if (limit !== null && !/^\d{1,9}$/.test(limit))
    throw badRequest(`limit: expected a number, found ${JSON.stringify(limit)}`);
  return {
    since: text('since'),
    until: text('until'),
    user: text('user'),
    status: query.get('status') !== 'false',
    limit: limit === null ? undefined : Number(limit),
    continue: text('continue'),
  };
}
