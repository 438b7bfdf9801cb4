import { createInterface } from 'node:readline/promises';

/** Asks on the terminal. Resolves with whether the user said yes; Ctrl-C and Ctrl-D say no. */
export async function isConfirmed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const end = new AbortController();
  terminal.once('close', () => end.abort());
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal: end.signal })).trim());
  } catch {
    return false;
  } finally {
    terminal.close();
  }
}
