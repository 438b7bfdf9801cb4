/** `qd history`: who changed what, and when. */

import { qualified } from '../../api/errors.ts';
import type { ChangeList, ObjectChange } from '../../api/past.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { CliError } from '../output/cli-error.ts';
import { oneLine } from '../output/one-line.ts';
import { print } from '../output/print.ts';
import { table } from '../output/table.ts';
import type { HistoryFlags } from './flags.ts';
import { type ChangeFilter, type ObjectApi, type Selection, splitName, withObjects } from './object-api.ts';
import { contentOf, diffLines } from './object-diff.ts';

interface Asked {
  /** Undefined: all kinds. */
  readonly type: string | undefined;
  readonly name: string | undefined;
}

export async function history(asked: Asked, flags: HistoryFlags): Promise<void> {
  await withObjects(flags, async (objects) => {
    const selection = await selectionOf(objects, asked, flags);
    const items = await changesOf(objects, selection, flags);
    const isOfObject = selection?.name !== undefined;
    if (flags.output === 'json') print(JSON.stringify(listOf(items), undefined, 2));
    else if (flags.output === 'yaml') print((await import('yaml')).stringify(listOf(items)).trimEnd());
    else if (items.length === 0) print('No changes.');
    else print(...(isOfObject ? changeLines(items, flags.status ?? false) : table(rowsOf(items))));
  });
}

async function selectionOf(
  objects: ObjectApi,
  { type: given, name: named }: Asked,
  flags: HistoryFlags,
): Promise<Selection | undefined> {
  if (given === undefined) return undefined;
  const { type, name } = splitName({ type: given, name: named });
  const found = await objects.find(type);
  if (flags.allNamespaces && name !== undefined) throw new CliError('an object is in one namespace: leave out -A');
  const namespace = flags.allNamespaces ? undefined : (flags.namespace ?? 'default');
  return { found, namespace: found.namespaced ? namespace : undefined, name };
}

async function changesOf(
  objects: ObjectApi,
  selection: Selection | undefined,
  flags: HistoryFlags,
): Promise<readonly ObjectChange[]> {
  const filter: ChangeFilter = {
    since: await objects.beginning(flags.since),
    until: await objects.momentAt(flags.until),
    user: flags.user,
    namespace: flags.allNamespaces ? undefined : flags.namespace,
    status: flags.status ?? false,
    limit: flags.limit,
  };
  const items: ObjectChange[] = [];
  let page: ChangeList | undefined;
  do {
    const limit = flags.limit - items.length;
    page = await objects.changes(selection, { ...filter, limit, continue: page?.metadata.continue });
    items.push(...page.items);
  } while (page.metadata.continue && items.length < flags.limit);
  return items.slice(0, flags.limit);
}

const listOf = (items: readonly ObjectChange[]) => ({ apiVersion: 'v1', kind: 'ChangeList', items });

/** Lines for each change of one object: who made it, and the fields that it changed. */
export function changeLines(items: readonly ObjectChange[], showsStatus: boolean): string[] {
  const shown = (object: KubeObject | undefined) => object && contentOf(showsStatus ? object : withoutStatus(object));
  return items.flatMap((change, index) => {
    const before = change.before ?? items[index + 1]?.object;
    const diff = change.type === 'updated' && before ? diffLines(shown(before), shown(change.object)) : [];
    return [oneLine(headOf(change)), ...diff.map((line) => `  ${line}`)];
  });
}

function headOf({ time, type, user, fieldManager, client, requestID, resourceVersion }: ObjectChange): string {
  const by = user === undefined ? '' : ` by ${user}`;
  const how = [
    ...(fieldManager ? [`manager ${fieldManager}`] : []),
    ...(client ? [`client ${client}`] : []),
    ...(requestID ? [`request ${requestID}`] : []),
  ].join(', ');
  return `${time} ${type}${by}, version ${resourceVersion}${how ? ` (${how})` : ''}`;
}

function withoutStatus(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  return rest as KubeObject;
}

function rowsOf(items: readonly ObjectChange[]): string[][] {
  const rows = items.map((change) => [
    change.time,
    change.type,
    change.namespace ?? '',
    `${qualified(change.group, change.kind === '' ? change.resource : change.kind.toLowerCase())}/${change.name}`,
    change.user ?? '',
    change.fieldManager ?? '',
    change.resourceVersion,
  ]);
  return [['TIME', 'CHANGE', 'NAMESPACE', 'OBJECT', 'USER', 'MANAGER', 'VERSION'], ...rows];
}
