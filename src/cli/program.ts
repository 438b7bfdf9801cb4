/** What both programs share: the version, one-line errors and exit codes. */
import { Command, CommanderError } from 'commander';
import { CliError, explain } from './output/cli-error.ts';
import { version } from './version.ts';

/** The longest delay of a timer in Node, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export async function runProgram(name: string, description: string, commands: readonly Command[]): Promise<void> {
  const program = new Command(name).description(description).version(`${name} ${version}`, '-v, --version');
  const versionCommand = new Command('version').description('Prints the version.').action(() => {
    process.stdout.write(`${name} ${version}\n`);
  });
  for (const command of [...commands, versionCommand]) program.addCommand(command);
  for (const command of withSubcommands(program)) {
    // Errors are printed below, each as one line; commander prints help itself.
    command
      .exitOverride()
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

/** Prints the error and returns the exit code. */
function report(name: string, error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0 || error.code === 'commander.help') return error.exitCode;
    const message = error.message.replace(/^error: /, '');
    process.stderr.write(`${name}: ${explain(new CliError(message))} (see ${name} --help)\n`);
    return 1;
  }
  process.stderr.write(`${name}: ${explain(error)}\n`);
  return 1;
}
