/** The command `qd token`. Its work is loaded when it runs. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { type ConnectionFlags, withConnectionFlags } from '../flags/connection.ts';
import * as value from '../flags/values.ts';

const DEFAULT_GROUP = 'system:bootstrappers:quarterdeck:default-node-token';
const USAGES = ['signing', 'authentication'];

export interface CreateFlags extends ConnectionFlags {
  /** Milliseconds; 0: for ever. */
  readonly ttl: number;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly description?: string;
  readonly quiet?: boolean;
}

export function tokenCommand(): Command {
  const create = new Command('create')
    .description('Makes a token with which machines join, and prints the line to run there.')
    .argument('[token]', 'the token itself: six and sixteen small letters and digits, with a dot between', token)
    .addOption(
      new Option('--ttl <time>', 'how long it is good; 0 for ever').argParser(life).default(24 * 3_600_000, '24h'),
    )
    .option('--groups <list>', 'groups that machines are in while they join', groups, [DEFAULT_GROUP])
    .option('--usages <list>', 'what it is good for', usages, USAGES)
    .option('--description <text>', 'what it is for, for people')
    .option('-q, --quiet', 'print the token alone')
    .action(async (given: string | undefined, flags: CreateFlags) => (await work()).createToken(given, flags));
  const list = new Command('list')
    .description('Shows the tokens that there are, without their secrets.')
    .action(async (flags: ConnectionFlags) => (await work()).listTokens(flags));
  const remove = new Command('delete')
    .description('Ends tokens.')
    .argument('<id...>', 'the part before the dot, or the whole token')
    .action(async (ids: readonly string[], flags: ConnectionFlags) => (await work()).deleteTokens(ids, flags));
  const command = new Command('token').description('Tokens with which machines join a cluster.');
  for (const each of [create, list, remove]) command.addCommand(withConnectionFlags(each));
  return command;
}

const work = () => import('./token.ts');

function token(text: string): string {
  if (!/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(text)) {
    throw new InvalidArgumentError('It must be like abcdef.0123456789abcdef.');
  }
  return text;
}

function life(text: string): number {
  return text === '0' ? 0 : value.duration(text);
}

function groups(text: string): readonly string[] {
  const found = value.list(text);
  if (found.some((group) => !/^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/.test(group))) {
    throw new InvalidArgumentError('Groups must begin with system:bootstrappers:.');
  }
  return found;
}

function usages(text: string): readonly string[] {
  const found = value.list(text);
  if (found.some((usage) => !USAGES.includes(usage))) {
    throw new InvalidArgumentError(`Allowed are ${USAGES.join(' and ')}.`);
  }
  return found;
}
