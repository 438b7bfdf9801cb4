/** Counts durations in buckets. Observing one allocates nothing. */
export class Histogram {
  readonly #counts: Float64Array;
  #sum = 0;

  /** Upper bounds in seconds, ascending. */
  constructor(private readonly bounds: readonly number[]) {
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(seconds: number): void {
    const { bounds } = this;
    let i = 0;
    while (i < bounds.length && seconds > bounds[i]!) i++;
    this.#counts[i]!++;
    this.#sum += seconds;
  }

  /** Formats the histogram for Prometheus. `labels` is like `verb="GET"`, or empty. */
  *lines(name: string, labels: string): Generator<string> {
    const before = labels && `${labels},`;
    let total = 0;
    for (let i = 0; i < this.#counts.length; i++) {
      total += this.#counts[i]!;
      yield `${name}_bucket{${before}le="${this.bounds[i] ?? '+Inf'}"} ${total}`;
    }
    const all = labels && `{${labels}}`;
    yield `${name}_sum${all} ${this.#sum}`;
    yield `${name}_count${all} ${total}`;
  }
}
