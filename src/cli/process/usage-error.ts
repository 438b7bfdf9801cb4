/** Explains errors of the command line: with the nearest flag or command, and the help of the command that was called. */
import type { Command, CommanderError } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import { CliError } from '../output/cli-error.ts';

/** Commander's code for a command that there is not. */
export const UNKNOWN_COMMAND = 'commander.unknownCommand';

/** Returns the error to print for one that commander found while it parsed the arguments of `command`. */
export function usageError(command: Command, error: CommanderError): CliError {
  const message = error.message.replace(/^error: /, '');
  return new CliError(`${message}${suggestion(command, error, message)} (see ${fullName(command)} --help)`, {
    cause: error,
  });
}

function suggestion(command: Command, { code }: CommanderError, message: string): string {
  const [, word = ''] = /'(.*)'/s.exec(message) ?? [];
  const found = code === 'commander.unknownOption' ? nearestFlag(command, word) : nearestCommand(command, code, word);
  return found === undefined ? '' : `; the nearest is ${found}`;
}

/** Single letters are too short to guess from. The word may have a value: `--prot=6443`. */
function nearestFlag(command: Command, word: string): string | undefined {
  const [, name] = /^--([^=]+)/.exec(word) ?? [];
  if (name === undefined) return undefined;
  const flags = command.createHelp().visibleOptions(command);
  const found = nearest(
    name,
    flags.flatMap(({ long }) => (long ? [long.slice('--'.length)] : [])),
  );
  return found && `--${found}`;
}

function nearestCommand(command: Command, code: string, word: string): string | undefined {
  if (code !== UNKNOWN_COMMAND) return undefined;
  return nearest(
    word,
    command
      .createHelp()
      .visibleCommands(command)
      .map((each) => each.name()),
  );
}

/** `qd snapshot save` for the command of that name. */
function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}
