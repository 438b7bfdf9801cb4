/** Limits the incomplete responses and events of a server together: many that never end add up. */
export class UnparsedBytes {
  #bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Registers a response or a watch. */
  open(): UnparsedPart {
    let own = 0;
    const set = (bytes: number) => {
      this.#bytes += bytes - own;
      own = bytes;
    };
    return {
      hold: (bytes) => {
        set(bytes);
        if (this.#bytes > this.maxBytes) {
          throw new Error(`its unfinished responses are larger than ${this.maxBytes} bytes together`);
        }
      },
      release: () => set(0),
    };
  }
}

export interface UnparsedPart {
  /** Sets the number of buffered bytes. Throws when the total exceeds the limit. */
  hold(bytes: number): void;
  release(): void;
}
