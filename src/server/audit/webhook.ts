import { backoffDelay } from '../../base/backoff.ts';
import { type Clock, sleep, type Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Post } from '../webhooks/post.ts';
import type { Backend } from './audit.ts';
import { Throttle } from './throttle.ts';
import { withoutObjects } from './truncate.ts';

export interface WebhookOptions {
  readonly post: Post;
  /** Milliseconds before the second try; each further pause is half as long again. */
  readonly initialBackoff: number;
  /** Events that wait to be sent; more are dropped. */
  readonly bufferSize: number;
  /** Events of one batch. */
  readonly maxBatchSize: number;
  /** Milliseconds that a batch waits for further events. */
  readonly maxBatchWait: number;
  /** Batches a second on average, and how many may leave at once after a pause; undefined: as many as there are. */
  readonly throttle: { readonly qps: number; readonly burst: number } | undefined;
  /** Bytes of one event beyond which its objects are left out; undefined: events stay as they are. */
  readonly maxEventBytes: number | undefined;
  /** Bytes of one batch, or of a single event where that is larger. */
  readonly maxBatchBytes: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const TRIES = 5;
const FACTOR = 1.5;
const JITTER = 0.2;
/** Milliseconds for one try, and for all of them at the end of the program. */
const TIMEOUT = 30_000;
const LAST_TIMEOUT = 5_000;
/** Bytes that are held at most, batches under way among them: what comes then is dropped, however few events it is. */
const HELD = 64 * 1024 * 1024;

const HEAD = '{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[';

/**
 * Sends events elsewhere, many at a time. No request waits for it: events wait in a buffer that is bounded, a batch leaves
 * when it is full or has waited long enough, and one that nobody takes is tried again and given up at last. What is
 * dropped is counted, by the part that dropped it as Kubernetes names them.
 */
export class Webhook implements Backend {
  readonly #options: WebhookOptions;
  readonly #throttle: Throttle | undefined;
  readonly #under = new Set<Promise<void>>();
  /** No more events are taken, and nobody waits for another try. */
  readonly #closing = new AbortController();
  /** There is no more time at all. */
  readonly #over = new AbortController();
  #waiting: string[] = [];
  #held = 0;
  #timer: Timer | undefined;
  /** A batch waits for its turn. */
  #isThrottled = false;
  #isBroken = false;
  readonly #lost = { buffered: 0, truncate: 0, webhook: 0 };

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#throttle = options.throttle && new Throttle(options.throttle, options.clock);
  }

  get lost(): Readonly<Record<string, number>> {
    return this.#lost;
  }

  write(line: string): void {
    const { bufferSize, maxBatchSize, maxBatchWait, clock } = this.#options;
    const event = this.#fitting(line);
    if (event === undefined) {
      this.#lost.truncate++;
      return;
    }
    if (this.#closing.signal.aborted || this.#waiting.length >= bufferSize || this.#held + event.length > HELD) {
      this.#lost.buffered++;
      return;
    }
    this.#held += event.length;
    this.#waiting.push(event);
    if (this.#waiting.length >= maxBatchSize) this.#send();
    else this.#timer ??= clock.timer(maxBatchWait, () => this.#send());
  }

  /** Sends what is left, once more what waits for another try, and gives up soon. */
  async close(): Promise<void> {
    const { clock, log } = this.#options;
    this.#closing.abort();
    this.#timer?.cancel();
    while (this.#waiting.length > 0) this.#start(this.#takeBatch());
    const timer = clock.timer(LAST_TIMEOUT, () => this.#over.abort(new Error('the program has ended')));
    await Promise.all(this.#under);
    timer.cancel();
    if (this.#isBroken) log.error('audit events were not sent before the end', { lost: this.#lost.webhook });
  }

  #fitting(line: string): string | undefined {
    const event = line.endsWith('\n') ? line.slice(0, -1) : line;
    const { maxEventBytes } = this.#options;
    if (maxEventBytes === undefined || Buffer.byteLength(event) <= maxEventBytes) return event;
    const smaller = withoutObjects(event);
    return Buffer.byteLength(smaller) <= maxEventBytes ? smaller : undefined;
  }

  /** What waits leaves, as fast as it may. */
  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#waiting.length > 0 && !this.#isThrottled) {
      const pause = this.#throttle?.take() ?? 0;
      if (pause === 0) {
        this.#start(this.#takeBatch());
        continue;
      }
      this.#isThrottled = true;
      this.#options.clock.timer(pause, () => {
        this.#isThrottled = false;
        this.#send();
      });
    }
  }

  #takeBatch(): string[] {
    const { maxBatchSize, maxBatchBytes } = this.#options;
    let count = 0;
    for (let bytes = 0; count < this.#waiting.length && count < maxBatchSize; count++) {
      bytes += this.#waiting[count]!.length;
      if (count > 0 && bytes > maxBatchBytes) break;
    }
    return this.#waiting.splice(0, count);
  }

  #start(batch: readonly string[]): void {
    const sending = this.#deliver(batch).finally(() => {
      this.#under.delete(sending);
      for (const { length } of batch) this.#held -= length;
    });
    this.#under.add(sending);
  }

  async #deliver(batch: readonly string[]): Promise<void> {
    const { initialBackoff, random, clock, log } = this.#options;
    const body = `${HEAD}${batch.join(',')}]}`;
    const backoff = { base: initialBackoff, max: Number.POSITIVE_INFINITY, factor: FACTOR, jitter: JITTER };
    for (let tries = 1; ; tries++) {
      const isLast = tries === TRIES || this.#closing.signal.aborted;
      try {
        await this.#post(body);
        if (this.#isBroken) log.info('the audit webhook takes events again');
        this.#isBroken = false;
        return;
      } catch (error) {
        if (!this.#isBroken) log.error('the audit webhook does not take events', { error });
        this.#isBroken = true;
        if (isLast) {
          this.#lost.webhook += batch.length;
          return;
        }
      }
      // The end of the program cuts the pause short.
      await sleep(clock, backoffDelay(tries, backoff, random), this.#closing.signal).catch(() => undefined);
    }
  }

  async #post(body: string): Promise<void> {
    const { post, clock } = this.#options;
    const tooLate = new AbortController();
    const timer = clock.timer(TIMEOUT, () => tooLate.abort(new Error(`no answer in ${TIMEOUT} ms`)));
    try {
      await post(body, AbortSignal.any([tooLate.signal, this.#over.signal]));
    } finally {
      timer.cancel();
    }
  }
}
