/** Named pipes in stock: Node cannot make them, and the program that does takes as long as all else that starts a container. */

import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../../../base/files/own/make-directories.ts';
import { runProgram } from '../../../../base/programs/run-program.ts';

const STOCK = 24;
const LEAST_IN_STOCK = 12;
const PROGRAMS = '/usr/bin:/bin';

export class SpareFifos {
  readonly #spare: string[] = [];
  #count = 0;
  #filling: Promise<void> | undefined;

  /** The directory is this process' alone, and on the file system of those that take from it. */
  constructor(private readonly directory: string) {
    rmSync(directory, { recursive: true, force: true });
    makeDirectoriesSync(directory, 0o700);
    this.#fill().catch(() => undefined);
  }

  /** Puts a pipe that only its owner can open at each path. */
  async take(...paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      while (this.#spare.length === 0) await this.#fill();
      renameSync(join(this.directory, this.#spare.pop()!), path);
    }
  }

  /** Makes more of them if few are left: for when nobody waits for anything. */
  restock(): void {
    if (this.#spare.length < LEAST_IN_STOCK) this.#fill().catch(() => undefined);
  }

  /** Concurrent calls share the work. */
  #fill(): Promise<void> {
    this.#filling ??= this.#make().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #make(): Promise<void> {
    const names = Array.from({ length: STOCK - this.#spare.length }, () => `fifo-${++this.#count}`);
    const paths = names.map((name) => join(this.directory, name));
    await runProgram(['mkfifo', '-m', '600', ...paths], { path: PROGRAMS });
    this.#spare.push(...names);
  }
}
