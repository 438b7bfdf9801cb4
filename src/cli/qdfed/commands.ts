/** The commands of the federation tool. Their work is loaded when they run. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import {
  type FederateFlags,
  type FederationFlags,
  federateFlags,
  federationFlags,
  type InitFlags,
  initFlags,
  type JoinFlags,
  joinFlags,
  type StatusFlags,
  statusFlags,
  type UnjoinFlags,
  unjoinFlags,
} from './flags.ts';

/** All commands of `qdfed`, in the order of the help. */
export const qdfedCommands = (): readonly Command[] => [
  initCommand(),
  joinCommand(),
  unjoinCommand(),
  federateCommand(),
  getCommand(),
  statusCommand(),
];

function initCommand(): Command {
  const command = new Command('init')
    .description(
      'Deploys the control plane of a federation on a host cluster, and adds it to the client configuration.',
    )
    .argument('<federation-name>', 'name of the federation');
  return addFlags(command, initFlags).action(async (name: string, flags: InitFlags) =>
    (await import('./init.ts')).init(name, flags),
  );
}

function joinCommand(): Command {
  const command = new Command('join')
    .description('Adds a cluster to a federation.')
    .argument('<cluster-name>', 'name of the cluster in the federation, and of its context');
  return addFlags(command, joinFlags).action(async (name: string, flags: JoinFlags) =>
    (await import('./join.ts')).join(name, flags),
  );
}

function unjoinCommand(): Command {
  const command = new Command('unjoin')
    .description('Removes a cluster from a federation. What the federation created in it stays.')
    .argument('<cluster-name>', 'name of the cluster in the federation');
  return addFlags(command, unjoinFlags).action(async (name: string, flags: UnjoinFlags) =>
    (await import('./unjoin.ts')).unjoin(name, flags),
  );
}

function federateCommand(): Command {
  const command = new Command('federate')
    .description('Federates a kind that is not federated by itself: its objects are propagated to the members.')
    .argument('<type>', 'plural and group of the kind, such as statefulsets.apps');
  return addFlags(command, federateFlags).action(async (name: string, flags: FederateFlags) =>
    (await import('./federate.ts')).federate(name, flags),
  );
}

function getCommand(): Command {
  const clusters = new Command('clusters').description('Lists the members of a federation, and how they are.');
  addFlags(clusters, federationFlags).action(async (flags: FederationFlags) =>
    (await import('./get.ts')).getClusters(flags),
  );
  return new Command('get').description('Lists the members of a federation.').addCommand(clusters);
}

function statusCommand(): Command {
  const command = new Command('status')
    .description('Shows where a federated object is, and why: what each cluster should have, has, and rejected.')
    .argument('<kind>', 'kind of the object, such as deployment')
    .argument('<name>', 'name of the object');
  return addFlags(command, statusFlags).action(async (kind: string, name: string, flags: StatusFlags) =>
    (await import('./status.ts')).status(kind, name, flags),
  );
}
