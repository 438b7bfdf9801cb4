/** The command `qd federation-apiserver`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import { type FederationServerFlags, federationServerFlags } from './flags.ts';

export function federationServerCommand(): Command {
  const command = new Command('federation-apiserver')
    .summary('Runs the API server of a federation; qdfed init deploys it.')
    .description('Runs the API server of a federation of clusters. qdfed init deploys it on the host cluster.');
  return addFlags(command, federationServerFlags).action(async (flags: FederationServerFlags) =>
    (await import('./run.ts')).runFederationServer(flags),
  );
}
