/** Sends requests continuously, as clients do, and records those that were not answered. */
import { Resolver } from 'node:dns/promises';
import { EventEmitter, once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 25;
/** An open connection that has ended does not come back, however late it is asked. */
const OPEN_PAUSE_MS = 100;
const TIMEOUT_MS = 5_000;

export interface Watch {
  /** Number of answers. */
  readonly answers: number;
  readonly failures: readonly string[];
  /** Resolves when it was answered as many times more, or once was not; fewer times if it asks less often than others. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Asks over one connection that is open, seldom. */
export const watchOpen = (name: string, ask: () => Promise<unknown>): Watch => watch(name, ask, OPEN_PAUSE_MS);

/** The pauses only keep it from taking all of a processor. */
export function watch(name: string, ask: () => Promise<unknown>, pauseMs = PAUSE_MS): Watch {
  let answers = 0;
  let isStopped = false;
  const failures: string[] = [];
  const asked = new EventEmitter();
  const run = async () => {
    while (!isStopped) {
      await ask().then(
        () => answers++,
        (error) => failures.push(`${name}: ${error}`),
      );
      asked.emit('end');
      await pause(pauseMs);
    }
  };
  const running = run();
  return {
    get answers() {
      return answers;
    },
    failures,
    async more(count) {
      const wanted = answers + Math.ceil((count * PAUSE_MS) / pauseMs);
      while (answers < wanted && failures.length === 0) await once(asked, 'end');
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

/** Sends one query, which is not repeated. */
export function resolving(name: string, server: { readonly address: string; readonly port: number }) {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  resolver.setServers([`${server.address}:${server.port}`]);
  return async () => {
    const [found] = await resolver.resolve4(name);
    if (found === undefined) throw new Error('there is no address');
  };
}

interface GettingOptions {
  readonly host: string;
  readonly keepAlive: boolean;
  readonly address?: string;
}

/** Sends requests over a new connection each, or all over the same one. */
export function getting(port: number, { host, keepAlive, address = '127.0.0.1' }: GettingOptions) {
  const agent = new Agent(keepAlive ? { keepAlive, maxSockets: 1 } : {});
  return async () => {
    const call = request({ host: address, port, headers: { host }, agent, timeout: TIMEOUT_MS });
    call.on('timeout', () => call.destroy(new Error('timeout')));
    call.end();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    const body = await text(response);
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${body}`);
  };
}

/** An open connection that echoes. */
export async function echoing(port: number, host: string): Promise<{ ask(): Promise<void>; close(): void }> {
  const headers = { host, connection: 'Upgrade', upgrade: 'echo' };
  const call = request({ host: '127.0.0.1', port, headers });
  call.end();
  const [, socket] = (await once(call, 'upgrade')) as [IncomingMessage, Duplex];
  socket.on('error', () => undefined);
  const ask = async () => {
    const answered = once(socket, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    socket.write('ping');
    const [data] = await answered;
    if (String(data) !== 'ping') throw new Error(`the echo was ${data}`);
  };
  return { ask, close: () => socket.destroy() };
}
