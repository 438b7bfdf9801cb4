/** Closes what was opened, in reverse order: after a failed start, and at the end. */
export class Cleanup {
  readonly #tasks: (() => Promise<unknown>)[] = [];

  add(task: () => Promise<unknown>): void {
    this.#tasks.push(task);
  }

  /** Runs all tasks, also after failures; rejects with the first failure. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let task = this.#tasks.pop(); task; task = this.#tasks.pop()) {
      await task().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}
