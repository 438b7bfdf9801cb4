/** Output of a start in the foreground: progress to standard output, errors and log lines to standard error. */
interface Output {
  /** The lines for people. */
  readonly shown: readonly string[];
  /** The lines that say why the program ended. */
  readonly errors: readonly string[];
  readonly all: readonly string[];
}

/** Tells apart what a process has written to one file. Log lines are JSON objects. */
export function splitOutput(text: string): Output {
  const all = text.replace(/\n+$/, '').split('\n');
  const isError = (line: string) => line.startsWith('qd: ');
  return { all, errors: all.filter(isError), shown: all.filter((line) => !isError(line) && !line.startsWith('{')) };
}
