/** The command `qd explain-pod`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { type ExplainFlags, explainFlags } from './flags.ts';

export function explainPodCommand(): Command {
  const command = new Command('explain-pod')
    .description('Explains why a pod runs where it does, or why it is pending: each node, plugin by plugin.')
    .argument('<name>', 'name of the pod')
    .action(async (name: string, flags: ExplainFlags) => (await import('./explain-pod.ts')).explainPod(name, flags));
  return addFlags(command, explainFlags);
}
