/** The command `qd proxy`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { type ProxyFlags, proxyFlags } from './flags.ts';

export function proxyCommand(): Command {
  const command = new Command('proxy')
    .description('Serves the API on this machine over plain HTTP, with the credentials of the kubeconfig.')
    .action(async (flags: ProxyFlags) => (await import('./proxy.ts')).proxy(flags));
  return addFlags(command, proxyFlags);
}
