/** Reads what happened to one object from a watch, and knows when it has read all of it. */
import type { WatchStream } from '../../client/transport/transport.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { CliError } from '../output/cli-error.ts';

export interface ObjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

/** An object at both ends of what is replayed; undefined where it does not exist. */
export interface Ends {
  readonly first: KubeObject | undefined;
  readonly now: KubeObject | undefined;
}

/** How long the server is asked to go on. It sends at once what it has, unless it is busy. */
const ATTEMPTS_SECONDS = [1, 3, 30];
/** A server whose clock stands still does not end the watch. */
const GRACE_MS = 1_000;

/** `watch` opens a watch that the server ends after a number of seconds. Resolves with the events, oldest first. */
export async function replay(ends: Ends, watch: (seconds: number) => Promise<WatchStream>): Promise<ObjectEvent[]> {
  if (isAll([], ends) === true) return [];
  for (const seconds of ATTEMPTS_SECONDS) {
    const events = await attempt(ends, await watch(seconds), seconds);
    const all = isAll(events, ends);
    // An object that is not known at either end has most likely no history.
    if (all === true || (all === 'unknown' && seconds > ATTEMPTS_SECONDS[0]!)) return events;
  }
  throw new CliError('the server is too busy to send the history of the object; try again later');
}

async function attempt(ends: Ends, stream: WatchStream, seconds: number): Promise<ObjectEvent[]> {
  const timer = setTimeout(() => stream.close(), seconds * 1_000 + GRACE_MS);
  const events: ObjectEvent[] = [];
  try {
    for await (const batch of stream) {
      for (const { type, object } of batch) {
        if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
          events.push({ type, object: object as KubeObject });
        }
      }
      // An object that is gone may have been created and deleted again.
      if (ends.now && isAll(events, ends) === true) break;
    }
  } finally {
    clearTimeout(timer);
    stream.close();
  }
  return events;
}

function isAll(events: readonly ObjectEvent[], { first, now }: Ends): boolean | 'unknown' {
  const last = events.at(-1);
  if (now) return versionOf(last?.object ?? first) >= versionOf(now);
  if (last) return last.type === 'DELETED';
  return first ? false : 'unknown';
}

const versionOf = (object: KubeObject | undefined) => BigInt(object?.metadata.resourceVersion ?? 0);
