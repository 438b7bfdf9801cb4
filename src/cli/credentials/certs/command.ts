/** The command `qd certs`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { parseRotatable, type Rotatable, rotatable } from '../../../assembly/keys/rotatable.ts';
import { type KeysFlags, keysFlags } from '../../encryption/flags.ts';
import { addFlags, parsed } from '../../flags/add-flags.ts';
import { type ClusterFlags, clusterFlags } from '../../flags/cluster.ts';
import { type ForgetFlags, forgetFlags } from './flags.ts';

export function certsCommand(): Command {
  const show = new Command('show')
    .description('Shows the certificates of a cluster on this machine and when they expire.')
    .action(async (flags: ClusterFlags) => (await import('./certs.ts')).showCerts(flags));
  const rotate = new Command('rotate')
    .description('Replaces certificates or keys. Running servers of the cluster use the new ones at once.')
    .argument('[what...]', `any of ${rotatable.join(', ')} (default: serving and admin)`, collect, [])
    .action(async (what: readonly Rotatable[], flags: KeysFlags) =>
      (await import('./certs.ts')).rotateCerts(what.length > 0 ? what : ['serving', 'admin'], flags),
    );
  const forget = new Command('forget')
    .description('Stops trusting certificate authorities and keys that were replaced.')
    .action(async (flags: ForgetFlags) => (await import('./certs.ts')).forgetCerts(flags));
  const command = new Command('certs').description('Shows and replaces the keys and certificates of a cluster.');
  command.addCommand(addFlags(show, clusterFlags));
  command.addCommand(addFlags(rotate, keysFlags));
  command.addCommand(addFlags(forget, forgetFlags));
  return command;
}

function collect(text: string, previous: readonly Rotatable[]): readonly Rotatable[] {
  return [...previous, parsed(() => parseRotatable(text))];
}
