/** Watches whose events are late, or that end early. */
import type { Clock } from '../../base/time/clock.ts';
import type { WatchConsumer, WatchReply } from '../api.ts';

/** Delivers everything `delayMs` later, its end included. */
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

/** Ends the watch as a broken connection does: without an error, so that the client resumes it. */
export function droppedAfter(reply: WatchReply, clock: Clock, delayMs: number): WatchReply {
  let consumer: WatchConsumer | undefined;
  const timer = clock.timer(delayMs, () => {
    reply.stop();
    consumer?.end();
  });
  return {
    type: 'watch',
    attach(attached) {
      consumer = attached;
      reply.attach({
        ...forwarded(attached),
        end() {
          timer.cancel();
          attached.end();
        },
      });
    },
    stop() {
      timer.cancel();
      reply.stop();
    },
  };
}

function forwarded(consumer: WatchConsumer): WatchConsumer {
  return {
    events: (batch) => consumer.events(batch),
    backlog: () => consumer.backlog(),
    onProgress: consumer.onProgress && ((listener) => consumer.onProgress?.(listener)),
    end: () => consumer.end(),
  };
}
