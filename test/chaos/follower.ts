/** Follows a collection over one server, or over several in turn, from one revision on: without a gap, and nothing twice. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Site } from './site.ts';

export interface SeenEvent {
  readonly type: string;
  readonly object: any;
}

/** Time without an event after which the connection counts as broken: something is written all the time. */
const SILENCE_MS = 5_000;
const PAUSE_MS = 200;

export class Follower {
  readonly problems: string[] = [];
  #isStopped = false;

  constructor(
    private readonly site: Site,
    private readonly options: {
      readonly servers: readonly string[];
      readonly path: string;
      readonly revision: string;
      onEvent(event: SeenEvent): void;
    },
  ) {
    void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #run(): Promise<void> {
    const { servers, path, onEvent } = this.options;
    let { revision } = this.options;
    for (let attempt = 0; !this.#isStopped; attempt++) {
      const server = servers[attempt % servers.length]!;
      try {
        const events = await within(this.site.server(server).watch(`${path}?watch=true&resourceVersion=${revision}`));
        for (;;) {
          const { value, done } = await within(events.next());
          if (done || this.#isStopped) break;
          const { type, object } = value as SeenEvent;
          if (type === 'ERROR')
            throw new Error(`${server} ended the watch of ${path}: ${object.code} ${object.message}`);
          const seen = object.metadata.resourceVersion;
          if (Number(seen) <= Number(revision))
            this.problems.push(`${server} showed ${seen} of ${path} after ${revision}`);
          revision = seen;
          onEvent(value);
        }
      } catch (error) {
        if (/\b410\b/.test(String(error))) {
          this.problems.push(String(error));
          return;
        }
      }
      await wait(PAUSE_MS);
    }
  }
}

/** Rejects when nothing comes for a while. */
export async function within<T>(work: Promise<T>, milliseconds = SILENCE_MS): Promise<T> {
  const timeout = new AbortController();
  work.catch(() => undefined);
  try {
    return await Promise.race([
      work,
      wait(milliseconds, undefined, { signal: timeout.signal }).then(() => {
        throw new Error(`nothing came for ${milliseconds} ms`);
      }),
    ]);
  } finally {
    timeout.abort();
  }
}
