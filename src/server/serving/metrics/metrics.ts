/**
 * The metrics that `/metrics` serves in the text format of Prometheus, under the names that dashboards for Kubernetes
 * use. Every request is counted, so counting is cheap; formatting the text is not. Components add sources of their own.
 */

import { head, labelsOf } from '../../../base/metrics/text.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { processLines } from './process.ts';
import { RequestMetrics } from './requests.ts';
import { StoreMetrics } from './store.ts';

/** The release of the program. */
export interface BuildInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly platform: string;
}

/** A component with metrics of its own. */
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
      head('kubernetes_build_info', 'gauge', 'The release of the program, as labels of the constant 1.'),
      `kubernetes_build_info{${labels}} 1`,
      ...processLines(this.clock.now()),
    ];
    return `${lines.join('\n')}\n`;
  }
}
