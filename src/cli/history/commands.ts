/** The commands `qd get`, `qd diff` and `qd undo`. Their work is loaded when they run. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { type DiffFlags, diffFlags, type GetFlags, getFlags, type UndoFlags, undoFlags } from './flags.ts';

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
    .description('Undoes the last change of an object, or its deletion: it is created again, with a new uid.')
    .argument(...TYPE)
    .argument('[name]', 'name of the object')
    .action(async (type: string, name: string | undefined, flags: UndoFlags) =>
      (await import('./undo/undo.ts')).undo({ type, name }, flags),
    );
  return addFlags(command, undoFlags);
}
