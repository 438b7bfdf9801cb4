/** How the process of a cluster was started, so that another program can be started like it. */
import { readFile, readlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CliError } from '../../output/cli-error.ts';

export interface StartedAs {
  /** The file that Node runs. */
  readonly program: string;
  /** From `up` on. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const COMMAND = 'up';

/** Variables of the channel to the process that it was started by. */
const OF_CHANNEL = /^NODE_CHANNEL_/;

export async function startedAs(pid: number): Promise<StartedAs> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8');
  const [commandLine, environment, cwd] = await Promise.all([
    read('cmdline'),
    read('environ'),
    readlink(`/proc/${pid}/cwd`),
  ]).catch((cause: unknown) => {
    throw new CliError(`it cannot be found out how process ${pid} was started`, { cause });
  });
  const words = commandLine.split('\0').slice(0, -1);
  const at = words.indexOf(COMMAND, 1);
  const program = words[at - 1];
  if (at < 2 || program === undefined) throw new CliError(`process ${pid} was not started with qd ${COMMAND}`);
  const env = environment
    .split('\0')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
    .filter(([name]) => name !== '' && !OF_CHANNEL.test(name));
  return { program: resolve(cwd, program), args: words.slice(at), cwd, env: Object.fromEntries(env) };
}
