import type { WatchBatch, WatchConsumer, WatchEvent } from '../../../api/reply.ts';
import { ObjectEvent } from '../cache/history/change-record.ts';
import type { WatchBacklogs } from './watch-backlogs.ts';
import { batchOf } from './watch-channel.ts';

/** Maximum backlog of a client before its watch is ended. */
const MAX_BACKLOG_BYTES = 16 * 1024 * 1024;
/** Number of events above which a batch is sent in parts, for instance the current objects of a large collection. */
const MAX_BATCH_EVENTS = 64;
/** Total size above which current objects are sent in parts. Changes are not: all watches share their encoding. */
const MAX_INITIAL_BYTES = 256 * 1024;
const PART_BYTES = 64 * 1024;

/** An item of the backlog: the next batch, or some events of it. */
interface Waiting {
  readonly batch: WatchBatch;
  /** Index of the first unsent event. */
  next: number;
  /** True for the initial objects, which may be large and do not count as backlog. */
  readonly isInitial: boolean;
}

/**
 * Sends the batches of one watch to its consumer, no faster than the client reads. The backlog consists of references
 * to events that all watches share, which are encoded when they are sent.
 */
export class WatchOutput {
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** Bytes that the consumer had not passed on at the last check. */
  #inFlight = 0;
  #limit = MAX_BACKLOG_BYTES;
  #isClosed = false;
  /** Time of the client's last read, in milliseconds since the epoch; updated while it is behind. */
  progressedAt = 0;

  constructor(
    private readonly consumer: WatchConsumer,
    private readonly backlogs: WatchBacklogs,
    private readonly onTooSlow: () => void,
  ) {
    consumer.onProgress?.(() => this.#progress());
  }

  get isBehind(): boolean {
    return this.#waiting.length > 0;
  }

  send(batch: WatchBatch, isInitial: boolean): void {
    if (batch.events.length === 0 || this.#isClosed) return;
    if (this.#mayWrite(batch, isInitial)) this.#write(batch);
    else this.#wait(batch, isInitial);
    if (isInitial) this.#limit += this.#inFlight;
    else if (this.#waitingBytes + this.#inFlight > this.#limit) this.onTooSlow();
  }

  /** Ends the watch of a client that reads too slowly. It resumes from the last event that it has read. */
  giveUp(): void {
    this.onTooSlow();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.backlogs.inFlight -= this.#inFlight;
    for (const waiting of this.#waiting) this.#release(waiting);
    this.#waiting = [];
    this.backlogs.delete(this);
  }

  /** True for a consumer in this process: it takes everything at once, as objects, and reports no progress. */
  get #isInProcess(): boolean {
    return this.consumer.onProgress === undefined;
  }

  #mayWrite(batch: WatchBatch, isInitial: boolean): boolean {
    if (this.#isInProcess) return true;
    return this.#waiting.length === 0 && isWhole(batch, isInitial) && this.#hasRoom();
  }

  #hasRoom(): boolean {
    return this.#inFlight < this.backlogs.window;
  }

  #write(batch: WatchBatch): void {
    this.consumer.events(this.#isInProcess ? heldBatch(batch) : batch);
    this.#measure();
  }

  /** Measures progress, and returns whether the client has read something. */
  #measure(): boolean {
    const before = this.#inFlight;
    this.#inFlight = this.consumer.backlog();
    this.backlogs.inFlight += this.#inFlight - before;
    return this.#inFlight < before;
  }

  #wait(batch: WatchBatch, isInitial: boolean): void {
    const waiting = { batch, next: 0, isInitial };
    this.#waiting.push(waiting);
    if (!isInitial) for (const event of batch.events) this.#waitingBytes += this.backlogs.hold(event, sizeOf(event));
    if (this.#waiting.length === 1) this.backlogs.add(this);
    this.#flush();
    this.backlogs.makeRoom();
  }

  #progress(): void {
    if (this.#isClosed) return;
    if (!this.#measure() || this.#waiting.length === 0) return;
    this.backlogs.progressed(this);
    this.#flush();
  }

  #flush(): void {
    while (this.#waiting.length > 0 && this.#hasRoom() && !this.#isClosed) {
      const waiting = this.#waiting[0]!;
      const { events } = waiting.batch;
      if (waiting.next === 0 && isWhole(waiting.batch, waiting.isInitial)) {
        this.#shift();
        this.#write(waiting.batch);
      } else {
        const first = waiting.next;
        const end = partEnd(events, first);
        if (end === events.length) this.#shift();
        else this.#release(waiting, end);
        this.#write(batchOf(events.slice(first, end)));
      }
    }
    if (this.#waiting.length === 0) this.backlogs.delete(this);
  }

  #shift(): void {
    const waiting = this.#waiting.shift();
    if (waiting) this.#release(waiting);
  }

  /** Releases the events before `end`. */
  #release(waiting: Waiting, end = waiting.batch.events.length): void {
    const { batch, next, isInitial } = waiting;
    waiting.next = end;
    if (isInitial) return;
    for (let i = next; i < end; i++) {
      const event = batch.events[i]!;
      const size = sizeOf(event);
      this.#waitingBytes -= size;
      this.backlogs.release(event, size);
    }
  }
}

/** Reports whether a batch is sent in one part. */
function isWhole({ events }: WatchBatch, isInitial: boolean): boolean {
  if (events.length > MAX_BATCH_EVENTS) return false;
  if (!isInitial) return true;
  let bytes = 0;
  for (const event of events) bytes += sizeOf(event);
  return bytes <= MAX_INITIAL_BYTES;
}

/** Returns the end of the part that begins with the event `first`. */
function partEnd(events: readonly WatchEvent[], first: number): number {
  let bytes = 0;
  let end = first;
  while (end < events.length && bytes < PART_BYTES) bytes += sizeOf(events[end++]!);
  return end;
}

/** Estimates the size of an event without encoding a large one. */
function sizeOf(event: WatchEvent): number {
  return event instanceof ObjectEvent ? event.entry.size : event.json().length;
}

/** Returns the events for a consumer that reads their objects, possibly after the next changes. */
function heldBatch({ events }: WatchBatch): WatchBatch {
  return batchOf(events.map((event) => (event instanceof ObjectEvent ? event.held() : event)));
}
