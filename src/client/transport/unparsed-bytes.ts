/** Limits what a server may send in all answers and events together before it can be parsed: parts of many that never end add up. */
export class UnparsedBytes {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** For one answer, or for one watch. */
  open(): UnparsedPart {
    let own = 0;
    const set = (bytes: number) => {
      this.#bytes += bytes - own;
      own = bytes;
    };
    return {
      hold: (bytes) => {
        set(bytes);
        if (this.#bytes > this.#maxBytes) {
          throw new Error(`its unfinished responses are larger than ${this.#maxBytes} bytes together`);
        }
      },
      release: () => set(0),
    };
  }
}

export interface UnparsedPart {
  /** So many bytes wait for their end now. Throws when they are too many, together with others. */
  hold(bytes: number): void;
  release(): void;
}
