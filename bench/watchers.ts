/** Measures many watchers on a burst of creates: how many events a second reach all of them together. */
import { Agent } from 'node:https';
import { connect } from 'node:tls';
import { post } from './http.ts';
import type { Target } from './load.ts';

export interface WatchOptions {
  readonly watchPath: string;
  /** Path of the creates: each POST to it makes one event for every watcher. */
  readonly createPath: string;
  readonly body: (index: number) => string;
  readonly watchers: number;
  readonly creates: number;
}

/** Events per second, from the first create until every watcher has seen every event. */
export async function measureWatch(target: Target, options: WatchOptions): Promise<number> {
  const streams = await Promise.all(
    Array.from({ length: options.watchers }, () => openWatch(target, options.watchPath)),
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
  creator.destroy();
  return (options.watchers * options.creates) / seconds;
}

interface Stream {
  seen(lines: number): Promise<void>;
  close(): void;
}

const HEAD_END = '\r\n\r\n';
const BRACE = 0x7d;
const NEWLINE = 0x0a;

/**
 * Opens a watch over a plain socket and reads it as it comes: a client that parses HTTP costs more than the measured
 * code. An event is a line that ends an object; lines that frame chunks end otherwise.
 */
function openWatch({ origin, token }: Target, path: string): Promise<Stream> {
  const { hostname, port, host } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    let lines = 0;
    let last = 0;
    let wanted = Number.POSITIVE_INFINITY;
    let reached = () => {};
    const read = (piece: Buffer) => {
      if (last === BRACE && piece[0] === NEWLINE) lines++;
      for (let at = piece.indexOf(NEWLINE, 1); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) {
        if (piece[at - 1] === BRACE) lines++;
      }
      last = piece.at(-1) ?? last;
      if (lines >= wanted) reached();
    };
    socket.once('data', (head: Buffer) => {
      const end = head.indexOf(HEAD_END);
      if (end < 0 || !head.toString('latin1').startsWith('HTTP/1.1 200')) {
        return reject(new Error(`no watch: ${head.toString('latin1').slice(0, 200)}`));
      }
      socket.on('data', read);
      read(head.subarray(end + HEAD_END.length));
      resolve({
        seen: (count) =>
          new Promise((done) => {
            wanted = count;
            reached = done;
          }),
        close: () => socket.destroy(),
      });
    });
    socket.on('error', reject);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}${HEAD_END}`);
  });
}
