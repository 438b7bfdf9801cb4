/** The command `qd encryption`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { type KeysFlags, keysFlags } from './flags.ts';

export function encryptionCommand(): Command {
  const show = new Command('show')
    .description('Lists the ids of the keys that Secrets are encrypted with, the current one first.')
    .action(async (flags: KeysFlags) => (await import('./encryption.ts')).showKeys(flags));
  const rotate = new Command('rotate')
    .description('Adds a new key. A running cluster re-encrypts all Secrets at once, a stopped one at its next start.')
    .action(async (flags: KeysFlags) => (await import('./encryption.ts')).rotateKeys(flags));
  const forget = new Command('forget')
    .description('Removes replaced keys that nothing in the store is encrypted with any more.')
    .argument('[key...]', 'ids of the keys to remove (default: all but the current one)')
    .action(async (ids: readonly string[], flags: KeysFlags) => (await import('./forget.ts')).forgetKeys(ids, flags));
  const command = new Command('encryption').description('Manages the keys that Secrets are encrypted with at rest.');
  for (const each of [show, rotate, forget]) command.addCommand(addFlags(each, keysFlags));
  return command;
}
