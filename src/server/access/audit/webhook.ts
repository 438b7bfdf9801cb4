import { backoffDelay } from '../../../base/time/backoff.ts';
import { type Clock, sleep, type Timer } from '../../../base/time/clock.ts';
import type { Tools } from '../../../base/tools.ts';
import type { Post } from '../../outbound/webhooks/post.ts';
import type { Backend } from './audit.ts';

export interface WebhookOptions extends Tools {
  readonly post: Post;
  /** Delay before the second attempt; each further one is 1.5 times as long. */
  readonly initialBackoffMs: number;
  /** Limit for buffered events; further ones are dropped. */
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  /** Time that a batch waits for further events. */
  readonly maxBatchWaitMs: number;
  /** Batches per second on average, and in a burst; undefined for no limit. */
  readonly throttle: { readonly qps: number; readonly burst: number } | undefined;
  /** Limit for an event; larger ones are sent without their objects. Undefined for no limit. */
  readonly maxEventBytes: number | undefined;
  /** Limit for a batch; a single larger event is a batch of its own. */
  readonly maxBatchBytes: number;
}

const MAX_ATTEMPTS = 5;
const BACKOFF_FACTOR = 1.5;
const BACKOFF_JITTER = 0.2;
/** Timeout of an attempt, and of all attempts together when the program ends. */
const ATTEMPT_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 5_000;
/** Limit for buffered events and batches being sent. Further events are dropped. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

const LIST_HEAD = '{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[';

/**
 * Sends audit events to a webhook in batches. No request waits for it: events are kept in a bounded buffer, and a batch
 * is sent when it is full or has waited long enough. A batch that cannot be delivered is retried and finally dropped.
 * Dropped events are counted by the part that dropped them, under Kubernetes' names.
 */
export class Webhook implements Backend {
  readonly #options: WebhookOptions;
  readonly #throttle: Throttle | undefined;
  readonly #sending = new Set<Promise<void>>();
  /** Aborted when no more events are accepted, which ends the delays of retries. */
  readonly #closing = new AbortController();
  /** Aborted to end attempts in progress. */
  readonly #closed = new AbortController();
  #buffer: string[] = [];
  #heldBytes = 0;
  #timer: Timer | undefined;
  /** True while a batch waits for the throttle. */
  #isThrottled = false;
  #isFailing = false;
  readonly #dropped = { buffered: 0, truncate: 0, webhook: 0 };

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#throttle = options.throttle && new Throttle(options.throttle, options.clock);
  }

  get dropped(): Readonly<Record<string, number>> {
    return this.#dropped;
  }

  write(line: string): void {
    const { bufferSize, maxBatchSize, maxBatchWaitMs, clock } = this.#options;
    const event = this.#truncated(line);
    if (event === undefined) {
      this.#dropped.truncate++;
      return;
    }
    if (
      this.#closing.signal.aborted ||
      this.#buffer.length >= bufferSize ||
      this.#heldBytes + event.length > MAX_HELD_BYTES
    ) {
      this.#dropped.buffered++;
      return;
    }
    this.#heldBytes += event.length;
    this.#buffer.push(event);
    if (this.#buffer.length >= maxBatchSize) this.#send();
    else this.#timer ??= clock.timer(maxBatchWaitMs, () => this.#send());
  }

  /** Sends buffered events, retries failed ones once, and gives up after a short timeout. */
  async close(): Promise<void> {
    const { clock, log } = this.#options;
    this.#closing.abort();
    this.#timer?.cancel();
    while (this.#buffer.length > 0) this.#start(this.#takeBatch());
    const timer = clock.timer(CLOSE_TIMEOUT_MS, () => this.#closed.abort(new Error('the program has ended')));
    await Promise.all(this.#sending);
    timer.cancel();
    if (this.#isFailing)
      log.error('audit events could not be sent before the program ended', { dropped: this.#dropped.webhook });
  }

  #truncated(line: string): string | undefined {
    const event = line.endsWith('\n') ? line.slice(0, -1) : line;
    const { maxEventBytes } = this.#options;
    if (maxEventBytes === undefined || Buffer.byteLength(event) <= maxEventBytes) return event;
    const truncated = withoutObjects(event);
    return Buffer.byteLength(truncated) <= maxEventBytes ? truncated : undefined;
  }

  /** Sends buffered events, as fast as the throttle allows. */
  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#buffer.length > 0 && !this.#isThrottled) {
      const delayMs = this.#throttle?.take() ?? 0;
      if (delayMs === 0) {
        this.#start(this.#takeBatch());
        continue;
      }
      this.#isThrottled = true;
      this.#options.clock.timer(delayMs, () => {
        this.#isThrottled = false;
        this.#send();
      });
    }
  }

  #takeBatch(): string[] {
    const { maxBatchSize, maxBatchBytes } = this.#options;
    let count = 0;
    for (let bytes = 0; count < this.#buffer.length && count < maxBatchSize; count++) {
      bytes += this.#buffer[count]!.length;
      if (count > 0 && bytes > maxBatchBytes) break;
    }
    return this.#buffer.splice(0, count);
  }

  #start(batch: readonly string[]): void {
    const sending = this.#deliver(batch).finally(() => {
      this.#sending.delete(sending);
      for (const { length } of batch) this.#heldBytes -= length;
    });
    this.#sending.add(sending);
  }

  async #deliver(batch: readonly string[]): Promise<void> {
    const { initialBackoffMs, random, clock, log } = this.#options;
    const body = `${LIST_HEAD}${batch.join(',')}]}`;
    const backoff = {
      base: initialBackoffMs,
      max: Number.POSITIVE_INFINITY,
      factor: BACKOFF_FACTOR,
      jitter: BACKOFF_JITTER,
    };
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === MAX_ATTEMPTS || this.#closing.signal.aborted;
      try {
        await this.#post(body);
        if (this.#isFailing) log.info('the audit webhook accepts events again');
        this.#isFailing = false;
        return;
      } catch (error) {
        if (!this.#isFailing) log.error('the audit webhook does not accept events', { error });
        this.#isFailing = true;
        if (isLast) {
          this.#dropped.webhook += batch.length;
          return;
        }
      }
      // Closing ends the delay.
      await sleep(clock, backoffDelay(attempt, backoff, random), this.#closing.signal).catch(() => undefined);
    }
  }

  async #post(body: string): Promise<void> {
    const { post, clock } = this.#options;
    const timeout = new AbortController();
    const timer = clock.timer(ATTEMPT_TIMEOUT_MS, () =>
      timeout.abort(new Error(`no answer in ${ATTEMPT_TIMEOUT_MS} ms`)),
    );
    try {
      await post(body, AbortSignal.any([timeout.signal, this.#closed.signal]));
    } finally {
      timer.cancel();
    }
  }
}

/** A token bucket: `qps` tokens per second, of which up to `burst` accumulate. */
class Throttle {
  readonly #qps: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #refilledAt: number;

  constructor({ qps, burst }: { readonly qps: number; readonly burst: number }, clock: Clock) {
    this.#qps = qps;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#refilledAt = clock.now();
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(): number {
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#refilledAt) / 1000) * this.#qps);
    this.#refilledAt = now;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / this.#qps) * 1000);
    this.#tokens--;
    return 0;
  }
}

/** Removes the objects from an event that is too large, and marks it as truncated. */
function withoutObjects(event: string): string {
  const { requestObject, responseObject, ...rest } = JSON.parse(event);
  if (requestObject === undefined && responseObject === undefined) return event;
  return JSON.stringify({ ...rest, annotations: { ...rest.annotations, 'audit.k8s.io/truncated': 'true' } });
}
