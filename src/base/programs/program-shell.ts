/**
 * Runs a program from a shell that stays. Starting a program copies the page tables of the process that starts it, which stops the
 * event loop of a server for 5 to 10 ms. The shell is small.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { withoutInherited } from './inherited-descriptors.ts';
import { programText } from './program-text.ts';

const SCRIPT = programText(new URL('./program-shell.sh', import.meta.url));

export class ProgramShell {
  #shell: ChildProcess | undefined;
  #received = '';
  /** Calls without an answer, in their order. */
  readonly #waiting: ((error?: Error) => void)[] = [];

  /** The program by its path, and its arguments before those of the calls. */
  constructor(private readonly command: readonly string[]) {}

  /** Runs the program, after the calls before. The argument is one line. Rejects with the error output when the program fails. */
  run(argument: string): Promise<void> {
    if (argument.includes('\n')) throw new Error('an argument for a program shell has one line');
    this.#shell ??= this.#start();
    return new Promise((resolve, reject) => {
      this.#waiting.push((error) => (error ? reject(error) : resolve()));
      this.#shell?.stdin?.write(`${argument}\n`);
    });
  }

  /** Ends the shell when it has answered. */
  close(): void {
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }

  #start(): ChildProcess {
    const nothing = openSync('/dev/null', 'r');
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', ...this.command], {
      stdio: withoutInherited(['pipe', 'pipe', 'ignore'], nothing),
      env: { LC_ALL: 'C', PATH: '' },
    });
    closeSync(nothing);
    // Lengths count bytes.
    shell.stdout?.setEncoding('latin1').on('data', (chunk: string) => this.#receive(chunk));
    shell.stdin?.on('error', () => undefined);
    const ended = (reason: string) => {
      if (this.#shell === shell) this.#shell = undefined;
      this.#received = '';
      for (const answer of this.#waiting.splice(0)) answer(new Error(`the shell that runs programs ended: ${reason}`));
    };
    shell.once('error', ({ message }) => ended(message));
    shell.once('close', (code, signal) => ended(String(code ?? signal)));
    return shell;
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    for (;;) {
      const [head, code, length] = /^(\d+) (\d+)\n/.exec(this.#received) ?? [];
      if (head === undefined) return;
      const end = head.length + Number(length);
      if (this.#received.length < end) return;
      const errors = Buffer.from(this.#received.slice(head.length, end), 'latin1').toString();
      this.#received = this.#received.slice(end);
      const message = `${this.command.join(' ')} failed: ${errors || `it ended with code ${code}`}`;
      this.#waiting.shift()?.(code === '0' ? undefined : new Error(message));
    }
  }
}
