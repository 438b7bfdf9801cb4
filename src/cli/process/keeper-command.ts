/** The command that starts the keeper of the process runtime. */
import { join } from 'node:path';

/** Defined by the build; absent when the sources run directly. */
declare const KEEPER_NAME: string | undefined;

/** Undefined when the sources run directly: the keeper is a program of its own. */
export function keeperCommand(): readonly string[] | undefined {
  return typeof KEEPER_NAME === 'undefined' ? undefined : [process.execPath, join(__dirname, KEEPER_NAME)];
}
