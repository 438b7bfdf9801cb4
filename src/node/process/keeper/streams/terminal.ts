/** Terminals of containers: `script` gives a program one, and `stty` changes its size. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TerminalSize } from '../../../../base/programs/process-streams.ts';
import type { Programs } from '../machine.ts';

/** The file into which a program with a terminal writes the name of it. */
const TERMINAL_FILE = 'terminal';

/** Tells the keeper which terminal it is, and gives it its first size. */
const PREPARE = `tty >"\${QD_TERMINAL:-${TERMINAL_FILE}}"; if [ -n "$QD_ROWS" ]; then stty rows "$QD_ROWS" cols "$QD_COLUMNS"; fi`;

/**
 * The arguments of `script` that run a command of the shell on a terminal of its own and end with its exit code. The command is a
 * constant: values are in its environment.
 */
export function terminalArguments(command: string, echo: 'always' | 'never'): string[] {
  return ['-q', '-e', '-f', '-E', echo, '-c', `${PREPARE}; ${command}`, '/dev/null'];
}

/** The variables that these arguments need. */
export function terminalEnvironment(directory: string, size: TerminalSize | undefined): Record<string, string> {
  return {
    QD_TERMINAL: join(directory, TERMINAL_FILE),
    ...(size && { QD_ROWS: String(size.rows), QD_COLUMNS: String(size.columns) }),
  };
}

/** Resizes the terminal whose name is in a directory; nothing happens where there is none. */
export function resizeTerminal({ stty }: Programs, directory: string, { columns, rows }: TerminalSize): void {
  const name = terminalIn(directory);
  if (stty === undefined || name === undefined) return;
  const child = spawn(stty, ['-F', name, 'rows', String(rows), 'cols', String(columns)], { stdio: 'ignore', env: {} });
  child.on('error', () => undefined);
}

function terminalIn(directory: string): string | undefined {
  try {
    return /^\/dev\/pts\/\d+$/m.exec(readFileSync(join(directory, TERMINAL_FILE), 'utf8'))?.[0];
  } catch {
    return undefined;
  }
}
