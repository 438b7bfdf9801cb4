/** `qd undo`: undoes the last change of an object, or its deletion, or brings back the state of a time. */

import { clientContent } from '../../../api/undo/content.ts';
import { CliError } from '../../output/cli-error.ts';
import { print } from '../../output/print.ts';
import type { UndoFlags } from '../flags.ts';
import { isWanted } from '../is-wanted.ts';
import { type Named, type ObjectApi, type Selection, splitName, withObjects } from '../object-api.ts';
import { diffLines, missingLines } from '../object-diff.ts';
import { sameCluster, sameUndo } from '../repeated.ts';
import { rescueOf } from './deletion.ts';
import { pastsOf } from './events.ts';
import { planUndo, type UndoPlan } from './plan-undo.ts';
import { rejectSetFlags, undoAll } from './undo-all.ts';

export async function undo(named: Named, flags: UndoFlags): Promise<void> {
  if (flags.all) return undoAll(named, flags);
  const { type, name } = splitName(named);
  if (name === undefined)
    throw new CliError("name the object: qd undo TYPE NAME; or a set: qd undo --all --since '10 minutes ago'");
  rejectSetFlags(flags);
  await withObjects(flags, async (objects) => {
    const found = await objects.find(type);
    const selection = { found, namespace: found.namespaced ? (flags.namespace ?? 'default') : undefined, name };
    const goal = await goalOf(objects, selection, flags.to);
    const plan = await planFor(objects, selection, goal);
    const what = `${found.label}/${name}`;
    const command = sameUndo({ type, name }, selection, flags);
    if (plan.type === 'nothing') throw new CliError(`${what}: ${plan.why}`);
    if (plan.type === 'terminating') {
      print(...(await rescueOf(objects, selection, { undo: command, cluster: sameCluster(flags) })));
      throw new CliError(`${what}: its deletion is under way and cannot be undone`);
    }
    print(...describe(what, plan));
    const isDryRun = flags.dryRun ?? false;
    if (!isDryRun && !flags.yes && !(await isWanted())) throw new CliError('nothing was changed');
    const missing = await perform(objects, selection, { plan, isDryRun });
    const done = `${isDryRun ? 'would be ' : ''}${plan.type === 'create' ? 'created again' : 'changed back'}`;
    if (missing.length > 0) {
      print(...missing);
      throw new CliError(`${what}: ${done}, but not in all fields: the server has them otherwise`);
    }
    print(`${what}: ${done}`);
    if (plan.type === 'update' && !isDryRun) {
      print(`To redo the change: ${command} --to ${plan.now.object.metadata.resourceVersion}`);
    }
  });
}

interface Performed {
  readonly plan: Change;
  readonly isDryRun: boolean;
}

type Change = Extract<UndoPlan, { type: 'update' | 'create' }>;

/** Writes the object, and returns lines about fields that the server did not restore. */
async function perform(objects: ObjectApi, selection: Selection, { plan, isDryRun }: Performed): Promise<string[]> {
  const to = plan.before.content;
  if (plan.type === 'create') {
    const is = clientContent(await objects.create(selection, plan.body, isDryRun));
    return missingLines({ from: {}, to, is });
  }
  const is = clientContent(await objects.update(selection, plan.body, isDryRun));
  return missingLines({ from: plan.now.content, to, is });
}

/** Returns the version to go back to; undefined for what was before the last change. */
async function goalOf(objects: ObjectApi, selection: Selection, to: string | undefined): Promise<string | undefined> {
  const at = await objects.momentAt(to);
  if (at === undefined || /^\d+$/.test(at)) return at;
  const [then] = await objects.list({ ...selection, at });
  if (!then) throw new CliError(`${selection.found.label}/${selection.name}: it did not exist at ${at}`);
  return then.metadata.resourceVersion;
}

/** Plans with as much of the past as is needed. */
async function planFor(objects: ObjectApi, selection: Selection, goal: string | undefined): Promise<UndoPlan> {
  let plan: UndoPlan | undefined;
  for await (const past of pastsOf(objects, selection)) {
    plan = planUndo(past, goal);
    if (plan.type !== 'nothing') return plan;
  }
  return plan!;
}

function describe(what: string, plan: Change): string[] {
  if (plan.type === 'update') return [what, ...diffLines(plan.now.content, plan.before.content)];
  const { ownerReferences = [] } = plan.before.object.metadata;
  return [
    `${what} was deleted. It is created again with the same content, as a new object: its uid, its age and its status are new.`,
    ...(ownerReferences.length > 0
      ? [
          'It has an owner: if the owner is gone, too, undo the deletion of the owner first, or the object is removed again.',
        ]
      : []),
  ];
}
