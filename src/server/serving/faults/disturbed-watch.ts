/** Watches with delayed events or an early end. */

import type { WatchConsumer, WatchReply } from '../../../api/reply.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';

/** Delays all events, and the end, by `delayMs`. */
export function late(reply: WatchReply, clock: Clock, delayMs: number): WatchReply {
  let isStopped = false;
  const later = (deliver: () => void) => {
    clock.timer(delayMs, () => {
      if (!isStopped) deliver();
    });
  };
  return {
    type: 'watch',
    attach: (consumer) =>
      reply.attach({
        ...forwarded(consumer),
        events: (batch) => later(() => consumer.events(batch)),
        end: () => later(() => consumer.end()),
      }),
    stop() {
      isStopped = true;
      reply.stop();
    },
  };
}

/** A running watch that can be dropped like a broken connection: without an error, so that the client resumes it. */
export class DroppableWatch implements WatchReply {
  readonly type = 'watch';
  readonly #onOver: () => void;
  readonly #timers: Timer[] = [];
  #consumer: WatchConsumer | undefined;

  constructor(
    private readonly reply: WatchReply,
    onOver: (watch: DroppableWatch) => void,
  ) {
    this.#onOver = () => onOver(this);
  }

  attach(consumer: WatchConsumer): void {
    this.#consumer = consumer;
    this.reply.attach({
      ...forwarded(consumer),
      end: () => {
        this.#over();
        consumer.end();
      },
    });
  }

  stop(): void {
    this.#over();
    this.reply.stop();
  }

  dropAfter(clock: Clock, delayMs: number): void {
    const drop = () => {
      this.stop();
      this.#consumer?.end();
    };
    this.#timers.push(clock.timer(delayMs, drop));
  }

  #over(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#onOver();
  }
}

function forwarded(consumer: WatchConsumer): WatchConsumer {
  return {
    events: (batch) => consumer.events(batch),
    backlog: () => consumer.backlog(),
    onProgress: consumer.onProgress && ((listener) => consumer.onProgress?.(listener)),
    end: () => consumer.end(),
  };
}
