import { readdirSync } from 'node:fs';
import { head } from './text.ts';

/** What this process takes of its machine. `now` in milliseconds since the epoch. */
export function* processLines(now: number): Generator<string> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  yield* counter('process_cpu_seconds_total', 'Seconds of processor time.', (user + system) / 1e6);
  yield* gauge('process_resident_memory_bytes', 'Memory that is in use.', rss);
  yield* gauge('process_start_time_seconds', 'When the process began.', now / 1000 - process.uptime());
  const files = openFiles();
  if (files !== undefined) yield* gauge('process_open_fds', 'Open files and sockets.', files);
  yield* gauge('nodejs_heap_size_used_bytes', 'The part of the heap that is in use.', heapUsed);
  yield* gauge('nodejs_heap_size_total_bytes', 'The heap.', heapTotal);
  yield* gauge('nodejs_external_memory_bytes', 'Memory beside the heap that objects hold.', external);
}

function* counter(name: string, help: string, value: number): Generator<string> {
  yield head(name, 'counter', help);
  yield `${name} ${value}`;
}

function* gauge(name: string, help: string, value: number): Generator<string> {
  yield head(name, 'gauge', help);
  yield `${name} ${value}`;
}

/** Only Linux says it. */
function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}
