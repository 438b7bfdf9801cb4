/** Served bytes of an object, kept while there is space for them. */
export interface KeptBytes {
  bytes: Buffer | undefined;
}

/**
 * Keeps bytes that can be recreated from stored data, up to a limit: the oldest are dropped first. Every object has its
 * stored bytes in memory already, and a client that reads all of them once would otherwise double that permanently.
 */
export class RecentBytes {
  readonly #maxBytes: number;
  #queue: KeptBytes[] = [];
  /** Index of the first entry that has not been dropped. */
  #head = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  keep(bytes: Buffer): KeptBytes {
    if (bytes.length > this.#maxBytes) return { bytes: undefined };
    const kept = { bytes };
    this.#queue.push(kept);
    this.#bytes += bytes.length;
    while (this.#bytes > this.#maxBytes) this.#dropOldest();
    return kept;
  }

  #dropOldest(): void {
    const oldest = this.#queue[this.#head++]!;
    this.#bytes -= oldest.bytes?.length ?? 0;
    oldest.bytes = undefined;
    if (this.#head * 2 <= this.#queue.length) return;
    this.#queue = this.#queue.slice(this.#head);
    this.#head = 0;
  }
}
