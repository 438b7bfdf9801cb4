import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { LogFields, Logger } from '../../../base/log.ts';
import { Histogram } from '../../../base/metrics/histogram.ts';
import { head, labelsOf } from '../../../base/metrics/text.ts';

const NAME = 'quarterdeck_event_loop_blocked_seconds';
const BUCKETS_SECONDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32];

/** The thread: `api` handles requests and runs components; `sockets` reads and writes connections. */
type WatchedThread = 'api' | 'sockets';

/** Work that blocked an event loop for too long. */
export interface Blockage {
  readonly thread: WatchedThread;
  /** The kind of work; one of a few. */
  readonly work: string;
  readonly milliseconds: number;
  readonly fields: LogFields;
}

/** Logs and counts what blocked the event loops of the process. */
export class EventLoopMetrics {
  readonly #blocked = new Map<string, Histogram>();

  constructor(private readonly log: Logger) {}

  add({ thread, work, milliseconds, fields }: Blockage): void {
    const labels = labelsOf({ thread, work });
    const histogram = getOrInsert(this.#blocked, labels, () => new Histogram(BUCKETS_SECONDS));
    histogram.observe(milliseconds / 1000);
    this.log.warn('the event loop was blocked', { thread, work, milliseconds: Math.round(milliseconds), ...fields });
  }

  *lines(): Generator<string> {
    yield head(NAME, 'histogram', 'How long work blocked an event loop, where that was more than 200 ms, in seconds.');
    for (const [labels, histogram] of this.#blocked) yield* histogram.lines(NAME, labels);
  }
}
