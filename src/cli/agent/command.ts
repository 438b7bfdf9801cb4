/** The command `qd agent`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { agentFlags, type GivenAgentFlags } from './flags.ts';

export function agentCommand(): Command {
  const command = new Command('agent')
    .description('Runs this machine as a node of a cluster, until it is stopped. Its pods go on running then.')
    .action(async (flags: GivenAgentFlags) => {
      if (flags.detach) return (await import('./background/detach.ts')).agentDetached(flags);
      return (await import('./agent.ts')).agent(flags);
    });
  return addFlags(command, agentFlags);
}
