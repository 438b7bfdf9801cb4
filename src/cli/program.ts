/** What both programs share: the version, one-line errors and exit codes. */
import { Command, CommanderError } from 'commander';
import { explain } from './output/cli-error.ts';
import { usageError } from './usage-error.ts';
import { version } from './version.ts';

/** The longest delay of a timer in Node, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Of `qd`. */
export const DESCRIPTION = 'A cluster orchestrator that speaks the Kubernetes API.';

export async function runProgram(name: string, description: string, commands: readonly Command[]): Promise<void> {
  const program = new Command(name).description(description).version(`${name} ${version}`, '-v, --version');
  const versionCommand = new Command('version').description('Prints the version.').action(() => {
    process.stdout.write(`${name} ${version}\n`);
  });
  for (const command of [...commands, versionCommand]) program.addCommand(command);
  for (const command of withSubcommands(program)) {
    // Errors are printed below, each as one line; commander prints help itself.
    command
      .exitOverride((error) => {
        throw isHelp(error) ? error : usageError(command, error);
      })
      .configureOutput({ outputError: () => {} })
      .showSuggestionAfterError(false);
    command.allowExcessArguments(false);
  }
  // Keeps the process alive while a command works: the clock's timers and LMDB's threads do not.
  const keepAlive = setInterval(() => {}, MAX_TIMER_MS);
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = report(name, error);
  } finally {
    clearInterval(keepAlive);
  }
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** Commander ends with an error, too, after it has printed help or the version. */
function isHelp({ exitCode, code }: CommanderError): boolean {
  return exitCode === 0 || code === 'commander.help';
}

/** Prints the error and returns the exit code. */
function report(name: string, error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode;
  process.stderr.write(`${name}: ${explain(error)}\n`);
  return 1;
}
