/**
 * What `/metrics` says, in the text form of Prometheus and in the names that dashboards for Kubernetes know. Counting is
 * on the way of every request and so is cheap; writing it out is not.
 */
import type { Clock } from '../../base/clock.ts';
import { processLines } from './process.ts';
import { RequestMetrics } from './requests.ts';
import { StoreMetrics } from './store.ts';
import { head, labelsOf } from './text.ts';

/** Which release says it. */
export interface BuildInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly platform: string;
}

/** Whoever else has something to say. */
interface MetricsSource {
  lines(): Iterable<string>;
}

export class Metrics {
  readonly requests = new RequestMetrics();
  readonly store = new StoreMetrics();
  readonly #others: MetricsSource[] = [];

  constructor(private readonly clock: Clock) {}

  add(...sources: (MetricsSource | undefined)[]): void {
    for (const source of sources) if (source) this.#others.push(source);
  }

  text(build: BuildInfo): string {
    const { major, minor, gitVersion, gitCommit, platform } = build;
    const labels = labelsOf({ git_commit: gitCommit, git_version: gitVersion, major, minor, platform });
    const lines = [
      ...this.requests.lines(),
      ...this.store.lines(),
      ...this.#others.flatMap((source) => [...source.lines()]),
      head('kubernetes_build_info', 'gauge', 'Which release this is.'),
      `kubernetes_build_info{${labels}} 1`,
      ...processLines(this.clock.now()),
    ];
    return `${lines.join('\n')}\n`;
  }
}
