/** The commands `qd get`, `qd diff`, `qd undo` and `qd history`. Their work is loaded when they run. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import {
  type DiffFlags,
  diffFlags,
  type GetFlags,
  getFlags,
  type HistoryFlags,
  historyFlags,
  type PurgeFlags,
  purgeFlags,
  type UndoFlags,
  undoFlags,
} from './flags.ts';

const TYPE = ['<type>', 'kind of the objects: pods, deploy or widgets.example.com; with a name: deploy/web'] as const;

export function getCommand(): Command {
  const command = new Command('get')
    .description('Prints objects, also as they were: qd get deploy web --at "3 minutes ago".')
    .argument(...TYPE)
    .argument('[name]', 'name of one object')
    .action(async (type: string, name: string | undefined, flags: GetFlags) =>
      (await import('./get.ts')).get({ type, name }, flags),
    );
  return addFlags(command, getFlags);
}

export function diffCommand(): Command {
  const command = new Command('diff')
    .description('Prints what has changed in objects since a time; the exit code is 1 if anything has.')
    .argument(...TYPE)
    .argument('[name]', 'name of one object')
    .action(async (type: string, name: string | undefined, flags: DiffFlags) => {
      if (await (await import('./diff.ts')).diff({ type, name }, flags)) process.exitCode = 1;
    });
  return addFlags(command, diffFlags);
}

export function undoCommand(): Command {
  const command = new Command('undo')
    .description(
      'Undoes the last change of an object, or its deletion: it is created again, with a new uid. ' +
        "With --all, undoes a set of changes: qd undo --all --since '10 minutes ago' -n shop.",
    )
    .argument('[type]', TYPE[1])
    .argument('[name]', 'name of the object')
    .action(async (type: string | undefined, name: string | undefined, flags: UndoFlags) =>
      (await import('./undo/undo.ts')).undo({ type: type ?? '', name }, flags),
    );
  return addFlags(command, undoFlags);
}

export function historyCommand(): Command {
  const command = new Command('history')
    .description('Prints who changed what, and when: the fields of one object, or one line for each change of many.')
    .argument('[type]', TYPE[1])
    .argument('[name]', 'name of one object')
    .action(async (type: string | undefined, name: string | undefined, flags: HistoryFlags) =>
      (await import('./history.ts')).history({ type, name }, flags),
    );
  return addFlags(command, historyFlags).addCommand(purgeCommand());
}

function purgeCommand(): Command {
  const command = new Command('purge')
    .description('Deletes history, for administrators: of a kind, of one object, or everything before a time.')
    .argument('[type]', TYPE[1])
    .argument('[name]', 'name of one object')
    // Flags that `qd history` has, too, are found there, wherever they stand.
    .action(async (type: string | undefined, name: string | undefined, _: PurgeFlags, self: Command) =>
      (await import('./purge.ts')).purge({ type, name }, self.optsWithGlobals<PurgeFlags>()),
    );
  return addFlags(command, purgeFlags);
}
