/** A response that lasts until the client, the server or the stream itself ends it. */
interface OpenStream {
  end(): void;
}

/** Watches and streamed texts in progress, to be ended when the server shuts down. */
export class OpenStreams {
  readonly #streams = new Set<OpenStream>();
  #isDraining = false;

  /** True while the server is shutting down. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  add(stream: OpenStream): void {
    this.#streams.add(stream);
    if (this.#isDraining) stream.end();
  }

  delete(stream: OpenStream): void {
    this.#streams.delete(stream);
  }

  /** Ends every stream, including those that start later. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of [...this.#streams]) stream.end();
  }
}
