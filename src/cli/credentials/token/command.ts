/** The command `qd token`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags, parsed } from '../../flags/add-flags.ts';
import { type ClusterFlags, connectionFlags } from '../../flags/cluster.ts';
import { createFlags, type GivenCreateFlags, token } from './flags.ts';

export function tokenCommand(): Command {
  const create = new Command('create')
    .description('Creates a token that machines join the cluster with, and prints the command to run on them.')
    .argument('[token]', 'the token: six and sixteen lower-case letters and digits, separated by a dot', (text) =>
      parsed(() => token(text)),
    )
    .action(async (given: string | undefined, flags: GivenCreateFlags) => (await work()).createToken(given, flags));
  const list = new Command('list')
    .description('Lists tokens, without their secrets.')
    .action(async (flags: ClusterFlags) => (await work()).listTokens(flags));
  const remove = new Command('delete')
    .description('Revokes tokens.')
    .argument('<id...>', 'the part before the dot, or the whole token')
    .action(async (ids: readonly string[], flags: ClusterFlags) => (await work()).deleteTokens(ids, flags));
  return new Command('token')
    .description('Manages the tokens that machines join a cluster with.')
    .addCommand(addFlags(create, createFlags))
    .addCommand(addFlags(list, connectionFlags))
    .addCommand(addFlags(remove, connectionFlags));
}

const work = () => import('./token.ts');
