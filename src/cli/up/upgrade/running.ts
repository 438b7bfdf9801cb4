/** How the process of a cluster or an agent was started, so that another program can be started like it. */
import { readFile, readlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Cluster } from '../../clusters/find.ts';
import { CliError } from '../../output/cli-error.ts';

export interface StartedAs {
  /** The file that Node runs. */
  readonly program: string;
  /** From the command on: `up` or `agent`. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const COMMANDS = { cluster: 'up', agent: 'agent' } as const satisfies Record<Cluster['kind'], string>;

/** Flags of the first start of a server that joins others. Each has a value. */
const JOINING = ['--join', '--token', '--ca-hash'];

/** Variables of the channel to the process that it was started by. */
const OF_CHANNEL = /^NODE_CHANNEL_/;

export async function startedAs(pid: number, kind: Cluster['kind']): Promise<StartedAs> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8');
  const [commandLine, environment, cwd] = await Promise.all([
    read('cmdline'),
    read('environ'),
    readlink(`/proc/${pid}/cwd`),
  ]).catch((cause: unknown) => {
    throw new CliError(`it cannot be found out how process ${pid} was started`, { cause });
  });
  const words = commandLine.split('\0').slice(0, -1);
  const command = COMMANDS[kind];
  const at = words.indexOf(command, 1);
  const program = words[at - 1];
  if (at < 2 || program === undefined) throw new CliError(`process ${pid} was not started with qd ${command}`);
  const env = environment
    .split('\0')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
    .filter(([name]) => name !== '' && !OF_CHANNEL.test(name));
  return { program: resolve(cwd, program), args: withoutJoining(words.slice(at)), cwd, env: Object.fromEntries(env) };
}

/** A server that has joined is a cluster of its own machine, and rejects the flags with which it did. Those of an agent stay. */
export function withoutJoining(args: readonly string[]): readonly string[] {
  const [command] = args;
  if (command !== COMMANDS.cluster) return args;
  const isJoining = (word = '') => JOINING.some((name) => word === name || word.startsWith(`${name}=`));
  return args.filter((word, index) => !isJoining(word) && !JOINING.includes(args[index - 1] ?? ''));
}
