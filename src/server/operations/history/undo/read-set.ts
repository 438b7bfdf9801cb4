/** Reads the objects of a set: before it, and now. */
import { badRequest } from '../../../../api/errors.ts';
import type { UndoItem } from '../../../../api/undo/undo-set.ts';
import { IPAddress } from '../../../../kinds/groups/networking/ip-address.ts';
import type { Kind } from '../../../../kinds/kind.ts';
import type { ArchivedChange } from '../../../../store/archive/archive.ts';
import { PORTS } from '../../../objects/allocation/allocation.ts';
import type { Entry } from '../../../objects/cache/entry/entry.ts';
import { prepare } from '../../../objects/cache/entry/prepare.ts';
import { parseKey, ROOT, tableName } from '../../../objects/cache/keys.ts';
import type { OperationPorts } from '../../ports.ts';
import { changeOf, typeOf } from '../change.ts';
import { knownKinds } from '../known-kinds.ts';
import { pastEntry } from '../past-entry.ts';
import { ReadRights } from '../rights.ts';
import { type ChangedObject, ChangeSet } from './change-set.ts';
import type { SetObject } from './plan.ts';
import type { UndoCall } from './undo-call.ts';

export interface ReadSet {
  readonly objects: readonly SetObject[];
  /** Objects of kinds that are not served. */
  readonly unserved: readonly UndoItem[];
  /** Number of objects that the user may not read. */
  readonly hidden: number;
  /** Who changed an object, by its key. */
  readonly users: ReadonlyMap<string, readonly string[]>;
}

/** Rows that follow from others: addresses and ports belong to Services. */
const DERIVED: ReadonlySet<string> = new Set([tableName(IPAddress), tableName(PORTS)]);

/** Limit for the changes that are read for one undo, of whatever objects and users. */
const MAX_CHANGES = 500_000;

type Ports = Pick<OperationPorts, 'archive' | 'cache' | 'registry' | 'authorizer' | 'turns'>;

export async function readSet(core: Ports, { range, user, signal }: UndoCall): Promise<ReadSet> {
  const set = new ChangeSet(core.archive, range);
  let read = 0;
  for await (const change of core.archive.changes({ prefix: ROOT, after: range.since })) {
    if (++read > MAX_CHANGES) {
      throw badRequest(`undo: more than ${MAX_CHANGES} changes were made since then: choose a later moment`);
    }
    if (!DERIVED.has(parseKey(change.key)?.table ?? '')) await set.add(change);
    const pause = core.turns.pause();
    if (pause) await pause;
    signal?.throwIfAborted();
  }
  const rights = new ReadRights(core, user);
  const kinds = knownKinds(core.registry);
  const objects: SetObject[] = [];
  const unserved: UndoItem[] = [];
  let hidden = 0;
  for (const changed of set.objects) {
    const parts = parseKey(changed.key)!;
    if (!(await rights.mayRead(changed.key))) {
      hidden++;
      continue;
    }
    const kind = kinds.find(parts.table);
    if (kind) objects.push(await setObject(core, kind, changed));
    else
      unserved.push(unservedItem(changed, { ...kinds.of(parts.table), namespace: parts.namespace, name: parts.name }));
  }
  return { objects, unserved, hidden, users: new Map(set.objects.map(({ key, users }) => [key, users])) };
}

async function setObject(core: Ports, kind: Kind, { key, before, conflict }: ChangedObject): Promise<SetObject> {
  const row = await core.archive.get(key, before);
  const past = row && pastEntry(core.cache, row);
  const now = core.cache.entry(key);
  const entries = [past, now].filter((entry): entry is Entry => entry !== undefined);
  await prepare(entries, { kind, version: kind.hub });
  return { key, kind, before: past?.hub(kind), now: now?.hub(kind), conflict: conflict && conflictText(conflict) };
}

function conflictText(change: ArchivedChange): string {
  const { time, user = 'somebody', resourceVersion } = changeOf(change, NO_KIND);
  return `${user} ${typeOf(change)} it later, at ${time} (resourceVersion ${resourceVersion})`;
}

const NO_KIND = { group: '', version: '', resource: '', kind: '' };

function unservedItem(
  { users }: ChangedObject,
  { group, version, resource, kind, namespace, name }: Omit<UndoItem, 'action' | 'users'>,
): UndoItem {
  const what = group ? `${resource}.${group}` : resource;
  const reason = `the server has no kind ${what} now: bring its CustomResourceDefinition back, and undo again`;
  const target = { group, version, resource, kind, namespace: namespace || undefined, name };
  return { action: 'conflict', ...target, users, reason };
}
