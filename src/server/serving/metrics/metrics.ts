/**
 * The metrics that `/metrics` serves in the text format of Prometheus, under the names that dashboards for Kubernetes
 * use. Every request is counted, so counting is cheap; formatting the text is not. Components add sources of their own.
 */

import { readdirSync } from 'node:fs';
import { Histogram } from '../../../base/metrics/histogram.ts';
import { head, labelsOf } from '../../../base/metrics/text.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Store } from '../../../store/store.ts';
import type { VersionInfo } from '../discovery/discovery.ts';
import { BUCKETS_SECONDS, RequestMetrics } from './requests.ts';

type BuildInfo = Pick<VersionInfo, 'major' | 'minor' | 'gitVersion' | 'gitCommit' | 'platform'>;

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

const DURATIONS = 'etcd_request_duration_seconds';

/** Measures commits to the store, under the name that dashboards use, whichever store it is. */
class StoreMetrics {
  readonly #commits = new Histogram(BUCKETS_SECONDS);

  /** Wraps a store to measure its commits. */
  measured(store: Store, clock: Clock): Store {
    return {
      revision: () => store.revision(),
      get: (key) => store.get(key),
      list: (prefix, options) => store.list(prefix, options),
      watch: (after, watcher) => store.watch(after, watcher),
      compact: (revision) => store.compact(revision),
      close: () => store.close(),
      commit: async (writes, conditions, origin) => {
        const began = clock.now();
        try {
          return await store.commit(writes, conditions, origin);
        } finally {
          this.#commits.observe((clock.now() - began) / 1000);
        }
      },
    };
  }

  *lines(): Generator<string> {
    yield head(DURATIONS, 'histogram', 'Time that a commit to the store takes, in seconds.');
    yield* this.#commits.lines(DURATIONS, 'operation="txn",type="*"');
  }
}

/** Processor time, memory and open files of this process. `now` is in milliseconds since the epoch. */
function* processLines(now: number): Generator<string> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  yield* counter('process_cpu_seconds_total', 'User and system CPU time spent, in seconds.', (user + system) / 1e6);
  yield* gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', rss);
  yield* gauge(
    'process_start_time_seconds',
    'Start time of the process, in seconds since the epoch.',
    now / 1000 - process.uptime(),
  );
  const files = openFiles();
  if (files !== undefined) yield* gauge('process_open_fds', 'Number of open file descriptors.', files);
  yield* gauge('nodejs_heap_size_used_bytes', 'Used heap size in bytes.', heapUsed);
  yield* gauge('nodejs_heap_size_total_bytes', 'Total heap size in bytes.', heapTotal);
  yield* gauge(
    'nodejs_external_memory_bytes',
    'Memory outside of the heap that is bound to JavaScript objects, in bytes.',
    external,
  );
}

function* counter(name: string, help: string, value: number): Generator<string> {
  yield head(name, 'counter', help);
  yield `${name} ${value}`;
}

function* gauge(name: string, help: string, value: number): Generator<string> {
  yield head(name, 'gauge', help);
  yield `${name} ${value}`;
}

/** Counts open files; undefined on systems without /proc. */
function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}
