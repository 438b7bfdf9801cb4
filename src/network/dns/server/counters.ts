/** Numbers of queries and answers since the start. */
export class DnsCounters {
  queries = 0;
  malformed = 0;
  /** Answered from the zone. */
  own = 0;
  /** Queries answered with an earlier answer of an upstream server. */
  remembered = 0;
  forwarded = 0;
  /** Dropped because a limit was reached. */
  dropped = 0;
  readonly #codes = new Map<number, number>();

  count(code: number): void {
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
  }

  /** Responses by their code. */
  get codes(): ReadonlyMap<number, number> {
    return this.#codes;
  }
}
