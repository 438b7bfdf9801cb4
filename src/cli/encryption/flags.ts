/** The command `qd encryption`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { type ClusterFlags, withClusterFlags } from '../process/cluster-process.ts';

export interface KeysFlags extends ClusterFlags {
  readonly encryptionKeyFile?: string;
}

export function encryptionCommand(): Command {
  const show = new Command('show')
    .description('Names the keys that Secrets are encrypted with, the one in use first.')
    .action(async (flags: KeysFlags) => (await import('./encryption.ts')).showKeys(flags));
  const rotate = new Command('rotate')
    .description(
      'Makes a new key; a running cluster writes all Secrets anew with it at once, others at their next start.',
    )
    .action(async (flags: KeysFlags) => (await import('./encryption.ts')).rotateKeys(flags));
  const forget = new Command('forget')
    .description('Removes keys that were rotated away, when nothing in the store needs them any more.')
    .argument('[key...]', 'their names (default: all but the one in use)')
    .action(async (names: readonly string[], flags: KeysFlags) =>
      (await import('./forget.ts')).forgetKeys(names, flags),
    );
  const command = new Command('encryption').description('The keys that Secrets are encrypted with in the store.');
  for (const each of [show, rotate, forget]) {
    command.addCommand(
      withClusterFlags(each).option('--encryption-key-file <file>', 'the key file (default: DIR/encryption.key)'),
    );
  }
  return command;
}
