import { readdirSync } from 'node:fs';
import { head } from '../../../base/metrics/text.ts';

/** Processor time, memory and open files of this process. `now` is in milliseconds since the epoch. */
export function* processLines(now: number): Generator<string> {
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
