/** The command `qd agent`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { type AgentFlags, agentFlags } from './flags.ts';

export function agentCommand(): Command {
  const command = new Command('agent')
    .description('Runs this machine as a node of a cluster, until it is stopped. Its pods go on running then.')
    .action(async (flags: AgentFlags) => (await import('./agent.ts')).agent(flags));
  // An agent remembers no flags, so that all have their defaults at once.
  return addFlags(
    command,
    agentFlags.map((flag) => ({ ...flag, remembered: false })),
  );
}
