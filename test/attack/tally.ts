/** Counts the results of requests. */

export interface Outcome {
  readonly method: string;
  readonly path: string;
  readonly code: number;
  readonly text: string;
}

/** Length of texts in the report; longer ones are cut. */
const MAX_TEXT_LENGTH = 300;

export class Tally {
  readonly codes = new Map<number, number>();
  /** Responses with a 5xx code, shortened. */
  readonly serverErrors: string[] = [];
  total = 0;

  count({ method, path, code, text }: Outcome): void {
    this.total++;
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (code < 500) return;
    // A health check names each part in a line; those that pass say nothing about the failure.
    const telling = text.replaceAll(/^\[\+\].*\n/gm, '');
    this.serverErrors.push(`${method} ${path.slice(0, 120)}: ${code} ${telling.slice(0, MAX_TEXT_LENGTH)}`);
  }

  toString(): string {
    const rows = [...this.codes].sort(([a], [b]) => a - b);
    return rows.map(([code, count]) => `${code === 0 ? 'closed' : code} × ${count}`).join(', ');
  }
}
