/**
 * Collects the warnings for the client and the annotations for the audit log of a request. The code that receives the
 * request creates one and passes it to `handle`; it is complete when `handle` has resolved or rejected.
 */
export class RequestNotes {
  #warnings: Set<string> | undefined;
  #annotations: Record<string, string> | undefined;

  /** The warnings in the order in which they were added; undefined when there are none. */
  get warnings(): readonly string[] | undefined {
    return this.#warnings && [...this.#warnings];
  }

  /** Annotations for the audit log; undefined when there are none. */
  get annotations(): Readonly<Record<string, string>> | undefined {
    return this.#annotations;
  }

  /** Adds a warning. Equal texts are kept once, since a write that is retried gives the same warnings again. */
  warn(text: string): void {
    this.#warnings ??= new Set();
    this.#warnings.add(text);
  }

  annotate(key: string, value: string): void {
    this.#annotations ??= {};
    this.#annotations[key] = value;
  }
}
