/** `qd undo --all`: undoes a set of changes in one transaction, after it has shown the plan. */
import { qualified } from '../../../api/errors.ts';
import type { UndoAction, UndoAnswer, UndoItem, UndoRequest } from '../../../api/undo/undo-set.ts';
import { CliError } from '../../output/cli-error.ts';
import { oneLine } from '../../output/one-line.ts';
import { print } from '../../output/print.ts';
import type { UndoFlags } from '../flags.ts';
import { isWanted } from '../is-wanted.ts';
import { type Named, withObjects } from '../object-api.ts';
import { diffLines } from '../object-diff.ts';

export async function undoAll({ type, name }: Named, flags: UndoFlags): Promise<void> {
  if (type !== '' || name !== undefined) throw new CliError('--all is about all kinds: name none, or leave out --all');
  const { since, until } = flags;
  if (since === undefined) throw new CliError("--all needs the beginning of the changes: --since '10 minutes ago'");
  if (flags.to !== undefined) throw new CliError('--to is about one object: with --all, write --since');
  await withObjects(flags, async (objects) => {
    const request: UndoRequest = {
      since: (await objects.momentAt(since))!,
      until: await objects.momentAt(until),
      namespace: flags.namespace,
      user: flags.user,
      force: flags.force ?? false,
    };
    const plan = await objects.undoSet({ ...request, dryRun: true });
    const lines = linesOf(plan);
    if (lines.length > 0) print(...lines);
    if (writesOf(plan).length === 0) throw new CliError('there is nothing to undo');
    if (flags.dryRun) return;
    if (!flags.yes && !(await isWanted())) throw new CliError('nothing was changed');
    // Changes since the plan was shown are not in it.
    const done = await objects.undoSet({ ...request, until: plan.metadata.resourceVersion });
    print(summaryOf(done));
    const left = done.items.filter(({ action }) => action === 'conflict').length;
    if (left > 0) throw new CliError(`objects left as they are: ${left}, see above; --force overwrites later changes`);
  });
}

/** Throws a CliError for flags that need --all. */
export function rejectSetFlags({ since, until, user, force }: UndoFlags): void {
  const given = Object.entries({ since, until, user, force }).find(([, value]) => value !== undefined);
  if (given) throw new CliError(`--${given[0]} needs --all`);
}

const isWrite = ({ action }: UndoItem) => action !== 'leave' && action !== 'conflict';
const writesOf = ({ items }: UndoAnswer) => items.filter(isWrite);

const WORDS: Readonly<Record<UndoAction, string>> = {
  create: 'create again',
  update: 'change back',
  delete: 'delete',
  leave: 'leave',
  conflict: 'conflict:',
};

function linesOf({ items, hidden }: UndoAnswer): string[] {
  const left = items.filter(({ action }) => action === 'leave');
  return [
    ...items.filter(({ action }) => action !== 'leave').flatMap(itemLines),
    ...(left.length > 0 ? [`left to their controllers: ${countsOf(left)}`] : []),
    ...(hidden > 0 ? [`changed objects that you may not read, and that are left: ${hidden}`] : []),
  ];
}

function itemLines(item: UndoItem): string[] {
  const by = item.users.filter(Boolean).join(', ');
  const why = item.reason ?? (by ? `changed by ${by}` : '');
  const diff = item.action === 'update' ? diffLines(item.now, item.before) : [];
  const lines = [`${WORDS[item.action]} ${nameOf(item)}${why ? ` (${why})` : ''}`, ...diff.map((line) => `  ${line}`)];
  return lines.map((line, index) => (index === 0 ? oneLine(line) : line));
}

/** Counts objects by kind: `2 pod, 1 replicaset.apps`. */
function countsOf(items: readonly UndoItem[]): string {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(kindOf(item), (counts.get(kindOf(item)) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
}

const kindOf = ({ group, resource, kind }: UndoItem) => qualified(group, kind === '' ? resource : kind.toLowerCase());

function nameOf(item: UndoItem): string {
  return `${kindOf(item)}/${item.name}${item.namespace ? ` in ${item.namespace}` : ''}`;
}

function summaryOf(done: UndoAnswer): string {
  const count = (action: UndoAction) => done.items.filter((item) => item.action === action).length;
  return `created again: ${count('create')}, changed back: ${count('update')}, deleted: ${count('delete')}`;
}
