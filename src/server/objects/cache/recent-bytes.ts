/** Bytes of an object as it is served, as long as there is room for them. */
export interface KeptBytes {
  bytes: Buffer | undefined;
}

/**
 * Keeps bytes that can be made again from what is stored, up to a limit: the oldest are dropped first. Every object has its
 * stored bytes in memory already, and a client that reads all of them once would otherwise double that for good.
 */
export class RecentBytes {
  readonly #maxBytes: number;
  #queue: KeptBytes[] = [];
  /** Those before it have been dropped. */
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
