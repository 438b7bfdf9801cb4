/** The command `qd certs`. Its work is loaded when it runs. */
import { Command, InvalidArgumentError } from 'commander';
import { type ClusterFlags, withClusterFlags } from '../process/cluster-process.ts';

/** What can be rotated; the first two are put to use while the cluster runs. */
const rotatable = ['serving', 'admin', 'service-account-key', 'authority'] as const;
export type Rotatable = (typeof rotatable)[number];

export function certsCommand(): Command {
  const show = new Command('show')
    .description('Shows the keys and certificates of a cluster on this machine, and how long they last.')
    .action(async (flags: ClusterFlags) => (await import('./certs.ts')).showCerts(flags));
  const rotate = new Command('rotate')
    .description('Replaces certificates or keys; a running cluster takes new certificates into use at once.')
    .argument('[what...]', `of ${rotatable.join(', ')} (default: serving and admin)`, collect, [])
    .action(async (what: readonly Rotatable[], flags: ClusterFlags) =>
      (await import('./certs.ts')).rotateCerts(what.length > 0 ? what : ['serving', 'admin'], flags),
    );
  const forget = new Command('forget')
    .description('Ends the trust in authorities and keys that were rotated away.')
    .action(async (flags: ClusterFlags) => (await import('./certs.ts')).forgetCerts(flags));
  const command = new Command('certs').description('The keys and certificates of a cluster on this machine.');
  for (const each of [show, rotate, forget]) command.addCommand(withClusterFlags(each));
  return command;
}

function collect(text: string, before: readonly Rotatable[]): readonly Rotatable[] {
  const found = rotatable.find((each) => each === text);
  if (!found) throw new InvalidArgumentError(`Allowed are ${rotatable.join(', ')}.`);
  return [...before, found];
}
