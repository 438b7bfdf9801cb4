import { CliError } from '../output/cli-error.ts';
import { isConfirmed } from '../output/confirm.ts';

/** Asks whether to go on. Throws a CliError where nobody can answer. */
export async function isWanted(): Promise<boolean> {
  if (!process.stdin.isTTY) throw new CliError('nothing was changed; confirm with --yes');
  return isConfirmed('Do it?');
}
