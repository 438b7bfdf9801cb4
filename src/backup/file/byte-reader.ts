/** Takes given numbers of bytes from a stream. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#source = content[Symbol.asyncIterator]();
  }

  /** Resolves with undefined when there are not so many. */
  async take(bytes: number): Promise<Buffer | undefined> {
    while (this.#bytes < bytes) if (!(await this.#pull())) return undefined;
    const all = this.#chunks.length === 1 ? asBuffer(this.#chunks[0]!) : Buffer.concat(this.#chunks);
    this.#chunks = all.length === bytes ? [] : [all.subarray(bytes)];
    this.#bytes -= bytes;
    return all.subarray(0, bytes);
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#bytes === 0) if (!(await this.#pull())) return true;
    return false;
  }

  /** Ends the stream early. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #pull(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    if (value.length > 0) this.#chunks.push(value);
    this.#bytes += value.length;
    return true;
  }
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength);
