import { Histogram } from '../../base/metrics/histogram.ts';
import { head, labelsOf } from '../../base/metrics/text.ts';
import type { WorkQueueObserver } from '../../base/reconcile/work-queue.ts';
import type { Clock } from '../../base/time/clock.ts';

/** Bounds of the buckets in seconds, as dashboards expect them. */
const BUCKETS_SECONDS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10];

const ADDS = 'workqueue_adds_total';
const DEPTH = 'workqueue_depth';
const LONGEST_RUNNING_SECONDS = 'workqueue_longest_running_processor_seconds';
const QUEUED_SECONDS = 'workqueue_queue_duration_seconds';
const RETRIES = 'workqueue_retries_total';
const UNFINISHED_SECONDS = 'workqueue_unfinished_work_seconds';
const WORKED_SECONDS = 'workqueue_work_duration_seconds';

/** Measures the queues of controllers, under the names that dashboards use. */
export class QueueMetrics {
  readonly #queues = new Map<string, QueueMeter>();

  constructor(private readonly clock: Clock) {}

  /** Returns the observer for the queue of a controller. Counters continue when a controller is started again. */
  observe(name: string): WorkQueueObserver {
    const meter = this.#queues.get(name) ?? new QueueMeter(name, this.clock);
    meter.forgetKeys();
    this.#queues.set(name, meter);
    return meter;
  }

  *lines(): Generator<string> {
    const all = [...this.#queues.values()];
    const gauge = (name: string, measure: (meter: QueueMeter) => number) =>
      all.map((meter) => `${name}{${meter.labels}} ${measure(meter)}`);
    yield head(ADDS, 'counter', 'Number of keys added to the queue.');
    yield* gauge(ADDS, ({ adds }) => adds);
    yield head(DEPTH, 'gauge', 'Number of keys that wait for a worker.');
    yield* gauge(DEPTH, ({ depth }) => depth);
    yield head(
      LONGEST_RUNNING_SECONDS,
      'gauge',
      'How long the longest running worker has been at its key, in seconds.',
    );
    yield* gauge(LONGEST_RUNNING_SECONDS, (meter) => Math.max(0, ...meter.runningSeconds()));
    yield head(QUEUED_SECONDS, 'histogram', 'How long a key waits for a worker, in seconds.');
    for (const { queued, labels } of all) yield* queued.lines(QUEUED_SECONDS, labels);
    yield head(RETRIES, 'counter', 'Number of keys that failed and are tried again.');
    yield* gauge(RETRIES, ({ retries }) => retries);
    yield head(UNFINISHED_SECONDS, 'gauge', 'How long all workers have been at their keys, in seconds.');
    yield* gauge(UNFINISHED_SECONDS, (meter) => meter.runningSeconds().reduce((sum, seconds) => sum + seconds, 0));
    yield head(WORKED_SECONDS, 'histogram', 'How long processing a key takes, in seconds.');
    for (const { worked, labels } of all) yield* worked.lines(WORKED_SECONDS, labels);
  }
}

class QueueMeter implements WorkQueueObserver {
  readonly labels: string;
  readonly queued = new Histogram(BUCKETS_SECONDS);
  readonly worked = new Histogram(BUCKETS_SECONDS);
  /** Time at which each key began to wait, and to be processed. */
  readonly #waiting = new Map<string, number>();
  readonly #running = new Map<string, number>();
  adds = 0;
  retries = 0;

  constructor(
    name: string,
    private readonly clock: Clock,
  ) {
    this.labels = labelsOf({ name });
  }

  get depth(): number {
    return this.#waiting.size;
  }

  runningSeconds(): readonly number[] {
    const now = this.clock.now();
    return [...this.#running.values()].map((since) => (now - since) / 1000);
  }

  /** Forgets keys: a closed queue does not report what becomes of them. */
  forgetKeys(): void {
    this.#waiting.clear();
    this.#running.clear();
  }

  added(key: string): void {
    this.adds++;
    this.#waiting.set(key, this.clock.now());
  }

  started(key: string): void {
    const now = this.clock.now();
    this.queued.observe((now - (this.#waiting.get(key) ?? now)) / 1000);
    this.#waiting.delete(key);
    this.#running.set(key, now);
  }

  ended(key: string): void {
    const now = this.clock.now();
    this.worked.observe((now - (this.#running.get(key) ?? now)) / 1000);
    this.#running.delete(key);
  }

  retried(): void {
    this.retries++;
  }
}
