/** The command `qd explain-pod`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { type ConnectionFlags, withConnectionFlags } from '../flags/connection.ts';

export interface ExplainFlags extends ConnectionFlags {
  readonly namespace: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

export function explainPodCommand(): Command {
  const command = new Command('explain-pod')
    .description('Says why a pod is where it is, or nowhere: every node, rule by rule.')
    .argument('<name>', 'the pod')
    .option('-n, --namespace <name>', 'its namespace', 'default')
    .option('--all', 'show rules, too, that have nothing against a node')
    .option('--json', 'print what the server says, as JSON');
  return withConnectionFlags(command).action(async (name: string, flags: ExplainFlags) => {
    const { explainPod } = await import('./explain-pod.ts');
    await explainPod(name, flags);
  });
}
