/** Many watchers on a burst of creates: how many events a second reach all of them together. */
import { Agent, request } from 'node:https';
import { post } from './http.ts';
import type { Target } from './load.ts';

export interface WatchOptions {
  readonly watchPath: string;
  /** Each POST to this path makes one event for every watcher. */
  readonly createPath: string;
  readonly body: (index: number) => string;
  readonly watchers: number;
  readonly creates: number;
}

/** Events per second, from the first create until every watcher has seen every event. */
export async function measureWatch(target: Target, options: WatchOptions): Promise<number> {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: Number.POSITIVE_INFINITY });
  const streams = await Promise.all(
    Array.from({ length: options.watchers }, () => openWatch(target, options.watchPath, agent)),
  );
  const start = performance.now();
  const creator = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 32 });
  const all = Promise.all(streams.map((stream) => stream.seen(options.creates)));
  await Promise.all(
    Array.from({ length: options.creates }, (_, index) =>
      post(target, options.createPath, options.body(index), creator),
    ),
  );
  await all;
  const seconds = (performance.now() - start) / 1_000;
  for (const stream of streams) stream.close();
  agent.destroy();
  creator.destroy();
  return (options.watchers * options.creates) / seconds;
}

interface Stream {
  seen(lines: number): Promise<void>;
  close(): void;
}

function openWatch({ origin, token }: Target, path: string, agent: Agent): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const call = request(origin + path, { agent, headers }, (response) => {
      let lines = 0;
      let wanted = Number.POSITIVE_INFINITY;
      let reached = () => {};
      response.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
        if (lines >= wanted) reached();
      });
      response.on('error', () => {});
      resolve({
        seen: (count) =>
          new Promise((done) => {
            wanted = count;
            reached = done;
          }),
        close: () => call.destroy(),
      });
    });
    call.on('error', reject).end();
  });
}
