/** What was opened, to be closed in the opposite order: after a start that failed half way, and at the end. */
export class Cleanup {
  readonly #tasks: (() => Promise<unknown>)[] = [];

  add(task: () => Promise<unknown>): void {
    this.#tasks.push(task);
  }

  /** Runs every task, whatever the others do; rejects with the first failure. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let task = this.#tasks.pop(); task; task = this.#tasks.pop()) {
      await task().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}
