import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Flag, FlagError } from '../../base/flag.ts';

/** Adds flags to a command, in the help under `heading`. */
export function addFlags(command: Command, flags: readonly Flag[], heading?: string): Command {
  for (const flag of flags) {
    const option = optionFor(flag);
    command.addOption(heading === undefined ? option : option.helpGroup(`${heading}:`));
  }
  return command;
}

/**
 * A remembered flag gets its default after the data directory was read (up/settings/), so that the parser leaves it
 * undefined when it is not given.
 */
function optionFor({ spec, help, parse, choices, default: value, defaultText, remembered }: Flag): Option {
  const isLate = remembered || value === undefined;
  const shown = defaultText ?? (value === undefined ? undefined : String(value));
  const option = new Option(spec, isLate && shown !== undefined ? `${help} (default: ${shown})` : help);
  if (choices) option.choices(choices as readonly string[]);
  if (parse) option.argParser((text, previous) => parsed(() => parse(text, previous)));
  return isLate ? option : option.default(value, shown);
}

/** Runs a parser for commander, which prints the message of the error after the name of the flag. */
export function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof FlagError ? new InvalidArgumentError(error.message) : error;
  }
}
