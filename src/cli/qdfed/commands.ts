/** The commands of the federation tool. Their work is loaded when they run. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { type InitFlags, initFlags, type JoinFlags, joinFlags, type UnjoinFlags, unjoinFlags } from './flags.ts';

export function initCommand(): Command {
  const command = new Command('init')
    .description(
      'Deploys the control plane of a federation on a host cluster, and adds it to the client configuration.',
    )
    .argument('<federation-name>', 'name of the federation');
  return addFlags(command, initFlags).action(async (name: string, flags: InitFlags) =>
    (await import('./init.ts')).init(name, flags),
  );
}

export function joinCommand(): Command {
  const command = new Command('join')
    .description('Adds a cluster to a federation.')
    .argument('<cluster-name>', 'name of the cluster in the federation, and of its context');
  return addFlags(command, joinFlags).action(async (name: string, flags: JoinFlags) =>
    (await import('./join.ts')).join(name, flags),
  );
}

export function unjoinCommand(): Command {
  const command = new Command('unjoin')
    .description('Removes a cluster from a federation. What the federation created in it stays.')
    .argument('<cluster-name>', 'name of the cluster in the federation');
  return addFlags(command, unjoinFlags).action(async (name: string, flags: UnjoinFlags) =>
    (await import('./unjoin.ts')).unjoin(name, flags),
  );
}
