/** Clocks of machines that can jump, by libfaketime: for programs that ask the C library for the time, as Node does and Go does not. */
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LIBRARY = existsSync('/usr/lib')
  ? readdirSync('/usr/lib')
      .map((folder) => join('/usr/lib', folder, 'faketime', 'libfaketimeMT.so.1'))
      .find((file) => existsSync(file))
  : undefined;

/** Whether clocks can jump here. */
export const canJump = LIBRARY !== undefined;

export class MachineClock {
  readonly #file: string;

  /** The file tells how far the clock is from the true time. */
  constructor(file: string) {
    this.#file = file;
    this.#set(0);
  }

  /** Environment of the programs of the machine. Timers go on evenly, as they do when the clock of a real machine is set. */
  get env(): NodeJS.ProcessEnv {
    if (!LIBRARY) return {};
    return {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_CACHE_DURATION: '1',
    };
  }

  /** Puts the clock forward, or back, until the returned function is called. */
  jump(seconds: number): () => void {
    this.#set(seconds);
    return () => this.#set(0);
  }

  #set(seconds: number): void {
    writeFileSync(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}
