/** Code that both programs share: the version, one-line errors and exit codes. */
import { Command, CommanderError } from 'commander';
import { explain } from '../output/cli-error.ts';
import { UNKNOWN_COMMAND, usageError } from './usage-error.ts';
import { version } from './version.ts';

/** The longest delay of a timer in Node, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Description of `qd`. */
export const DESCRIPTION = 'A cluster orchestrator that speaks the Kubernetes API.';

export async function runProgram(name: string, description: string, commands: readonly Command[]): Promise<void> {
  const program = programOf(name, description, commands);
  // The reader of the output may go before its end, as `head` does: the command goes on.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') report(name, error);
  });
  process.stderr.on('error', () => {});
  // Keeps the process alive while a command works: the clock's timers and LMDB's threads do not.
  const keepAlive = setInterval(() => {}, MAX_TIMER_MS);
  try {
    await program.parseAsync();
  } catch (error) {
    report(name, error);
  } finally {
    clearInterval(keepAlive);
  }
}

/** Adds to commands what every program has. An error of usage is thrown, and not printed. */
export function programOf(name: string, description: string, commands: readonly Command[]): Command {
  const program = new Command(name).description(description).version(`${name} ${version}`, '-v, --version');
  const versionCommand = new Command('version').description('Prints the version.').action(() => {
    process.stdout.write(`${name} ${version}\n`);
  });
  for (const command of [...commands, versionCommand]) program.addCommand(command);
  for (const command of withSubcommands(program)) if (command.commands.length > 0) replaceHelp(command);
  for (const command of withSubcommands(program)) {
    // Errors are printed by the caller, each as one line; commander prints help itself.
    command
      .exitOverride((error) => {
        throw isHelp(error) ? error : usageError(command, error);
      })
      .configureOutput({ outputError: () => {} })
      .showSuggestionAfterError(false);
    command.allowExcessArguments(false);
  }
  return program;
}

/** Commander's own shows the general help when there is no such command. */
function replaceHelp(command: Command): void {
  const help = new Command('help').argument('[command...]').description('display help for command');
  help.action((names: readonly string[]) => {
    let target = command;
    for (const name of names) {
      const found = target.commands.find((each) => each.name() === name);
      if (!found) throw usageError(target, new CommanderError(1, UNKNOWN_COMMAND, `error: unknown command '${name}'`));
      target = found;
    }
    target.help();
  });
  command.helpCommand(false).addCommand(help);
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** Commander ends with an error, too, after it has printed help or the version. */
function isHelp({ exitCode, code }: CommanderError): boolean {
  return exitCode === 0 || code === 'commander.help';
}

/** Prints the error, and has the program end with its exit code. */
function report(name: string, error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode ||= error.exitCode;
    return;
  }
  process.stderr.write(`${name}: ${explain(error)}\n`);
  process.exitCode = 1;
}
