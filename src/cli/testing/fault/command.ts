/** The command `qd fault`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import { type ClusterFlags, connectionFlags } from '../../flags/cluster.ts';
import { type AddFaultFlags, addFaultFlags, type RemoveFaultFlags, removeFaultFlags } from './flags.ts';

export function faultCommand(): Command {
  const add = new Command('add')
    .description('Disturbs requests until the fault is removed.')
    .argument('<name>', 'name of the fault')
    .action(async (name: string, flags: AddFaultFlags) => (await work()).addFault(name, flags));
  const list = new Command('list')
    .description('Lists the faults.')
    .action(async (flags: ClusterFlags) => (await work()).listFaults(flags));
  const remove = new Command('remove')
    .description('Removes faults.')
    .argument('[name...]', 'names of the faults')
    .action(async (names: readonly string[], flags: RemoveFaultFlags) => (await work()).removeFaults(names, flags));
  return new Command('fault')
    .description('Disturbs requests to a cluster that was started with --faults.')
    .addCommand(addFlags(add, addFaultFlags))
    .addCommand(addFlags(list, connectionFlags))
    .addCommand(addFlags(remove, removeFaultFlags));
}

const work = () => import('./fault.ts');
