/** What both programs share: a version, one-line errors, exit codes. */
import { Command, CommanderError } from 'commander';
import { CliError, explain } from './output/cli-error.ts';
import { version } from './version.ts';

/** What Node's timers take at most. */
const LONGEST = 2 ** 31 - 1;

export async function runProgram(name: string, description: string, commands: readonly Command[]): Promise<void> {
  const program = new Command(name).description(description).version(`${name} ${version}`, '-v, --version');
  const versionCommand = new Command('version').description('Prints the version.').action(() => {
    process.stdout.write(`${name} ${version}\n`);
  });
  for (const command of [...commands, versionCommand]) program.addCommand(command);
  for (const command of withInner(program)) {
    // Errors are printed below, each as one line; help asked for goes out as it is.
    command
      .exitOverride()
      .configureOutput({ outputError: () => {} })
      .showSuggestionAfterError(false);
    command.allowExcessArguments(false);
  }
  // Neither the clock's timers nor the threads of LMDB keep the process alive; while a command works, this does.
  const alive = setInterval(() => {}, LONGEST);
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = report(name, error);
  } finally {
    clearInterval(alive);
  }
}

function withInner(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withInner)];
}

/** Prints what went wrong and returns the exit code. */
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
