/** The command `qd federation-controller-manager`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import { type FederationManagerFlags, federationManagerFlags } from './flags.ts';

export function federationManagerCommand(): Command {
  const command = new Command('federation-controller-manager')
    .summary('Runs the controllers of a federation; qdfed init deploys it.')
    .description(
      'Runs the controllers of a federation of clusters, inside a pod of the host cluster. qdfed init deploys it.',
    );
  return addFlags(command, federationManagerFlags).action(async (flags: FederationManagerFlags) =>
    (await import('./run.ts')).runFederationManager(flags),
  );
}
