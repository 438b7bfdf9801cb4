/** Runs a program with a text as its input. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const MAX_MESSAGE_CHARACTERS = 2_000;

export interface RunProgramOptions {
  readonly input?: string;
  /** The PATH for the program and its children; not needed by a program that is named by its path. */
  readonly path?: string;
  /** More variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Resolves with the standard output. Rejects with the error output when the program fails. */
export async function runProgram(
  command: readonly string[],
  { input = '', path = '', env = {} }: RunProgramOptions = {},
): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { LC_ALL: 'C', PATH: path, ...env } });
  const output: string[] = [];
  let message = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => output.push(chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    if (message.length < MAX_MESSAGE_CHARACTERS) message += chunk;
  });
  // The program may exit before it has read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return output.join('');
  const reason = message.slice(0, MAX_MESSAGE_CHARACTERS).trim() || `it ended with code ${code}`;
  throw new Error(`${command.join(' ')} failed: ${reason}`);
}
