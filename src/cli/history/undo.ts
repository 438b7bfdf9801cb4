/** `qd undo`: undoes the last change of an object, or its deletion. */
import { createInterface } from 'node:readline/promises';
import { CliError } from '../output/cli-error.ts';
import type { UndoFlags } from './flags.ts';
import { type Named, type ObjectApi, type Selection, splitName, withObjects } from './object-api.ts';
import { contentOf, diffLines } from './object-diff.ts';
import { planUndo, type UndoPlan } from './plan-undo.ts';

export async function undo(named: Named, flags: UndoFlags): Promise<void> {
  const { type, name } = splitName(named);
  if (name === undefined) throw new CliError('name the object: qd undo TYPE NAME');
  await withObjects(flags, async (objects) => {
    const found = await objects.find(type);
    const selection = { found, namespace: found.namespaced ? flags.namespace : undefined, name };
    const plan = await planFor(objects, selection);
    const what = `${found.label}/${name}`;
    if (plan.type === 'nothing') throw new CliError(`${what}: ${plan.why}`);
    print(...describe(what, plan));
    const isDryRun = flags.dryRun ?? false;
    if (!isDryRun && !flags.yes && !(await isConfirmed())) throw new CliError('nothing was changed');
    if (plan.type === 'create') await objects.create(selection, plan.body, isDryRun);
    else await objects.update(selection, plan.body, isDryRun);
    const done = plan.type === 'create' ? 'created again' : 'changed back';
    print(isDryRun ? `${what}: would be ${done}` : `${what}: ${done}`);
  });
}

async function planFor(objects: ObjectApi, selection: Selection): Promise<UndoPlan> {
  const { version, items } = await objects.listOldest(selection);
  const events = await objects.eventsSince(selection, version);
  const [now] = await objects.list(selection);
  return planUndo({ first: items[0], events, now });
}

function describe(what: string, plan: Exclude<UndoPlan, { type: 'nothing' }>): string[] {
  if (plan.type === 'update') return [what, ...diffLines(contentOf(plan.now, false), contentOf(plan.before, false))];
  const { ownerReferences = [] } = plan.before.metadata;
  return [
    `${what} was deleted. It is created again with the same content, as a new object: its uid, its age and its status are new.`,
    ...(ownerReferences.length > 0
      ? [
          'It has an owner: if the owner is gone, too, undo the deletion of the owner first, or the object is removed again.',
        ]
      : []),
  ];
}

async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY) throw new CliError('nothing was changed; confirm with --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const end = new AbortController();
  terminal.once('close', () => end.abort());
  try {
    return /^y(es)?$/i.test((await terminal.question('Do it? [y/N] ', { signal: end.signal })).trim());
  } catch {
    return false; // Ctrl-C or Ctrl-D instead of an answer.
  } finally {
    terminal.close();
  }
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}
