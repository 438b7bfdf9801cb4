/**
 * The ingress proxy in a thread of its own, so that the API server does not wait while requests are forwarded. The two sides
 * exchange plain messages.
 */
import type { MessagePort } from 'node:worker_threads';
import type { DialGuard } from '../../base/dial/dial-guard.ts';
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import { type LogFields, type Logger, silent } from '../../base/log.ts';
import type { Clock } from '../../base/time/clock.ts';
import { type ConfigChange, ConfigReplica, changesBetween } from './changes.ts';
import { EMPTY_CONFIG, type IngressConfig } from './config.ts';
import { IngressProxy } from './proxy.ts';

type ToThread =
  | {
      readonly type: 'listen';
      readonly id: number;
      readonly protocol: 'http' | 'https';
      readonly address: string;
      readonly port: number;
    }
  /** The rules count from the last part on. */
  | { readonly type: 'change'; readonly id: number; readonly part: readonly ConfigChange[]; readonly isLast: boolean }
  | { readonly type: 'close'; readonly id: number };

type FromThread =
  | { readonly type: 'done'; readonly id: number; readonly port: number }
  | { readonly type: 'failed'; readonly id: number; readonly code: string | undefined; readonly message: string }
  | { readonly type: 'warning'; readonly message: string; readonly fields: LogFields | undefined };

/** What the controller needs of the proxy. */
export interface RemoteIngressProxy extends Pick<IngressProxy, 'listen' | 'close'> {
  /** Uses other rules. Resolves when requests follow them. */
  use(config: IngressConfig): Promise<void> | void;
}

/** Runs inside the thread. */
export function serveIngressThread(port: MessagePort, clock: Clock, guard: DialGuard): void {
  const reply = (message: FromThread) => port.postMessage(message);
  const log: Logger = { ...silent, warn: (message, fields) => reply({ type: 'warning', message, fields }) };
  const proxy = new IngressProxy({ clock, log, guard });
  const replica = new ConfigReplica();
  const answer = (id: number, work: Promise<number>) =>
    work.then(
      (bound) => reply({ type: 'done', id, port: bound }),
      ({ code, message }: NodeJS.ErrnoException) => reply({ type: 'failed', id, code, message }),
    );
  port.on('message', (message: ToThread) => {
    switch (message.type) {
      case 'listen':
        void answer(message.id, proxy.listen(message.protocol, message.address, message.port));
        break;
      case 'change':
        replica.take(message.part, message.isLast);
        if (message.isLast) proxy.use(replica.config);
        reply({ type: 'done', id: message.id, port: 0 });
        break;
      case 'close':
        void answer(
          message.id,
          proxy.close().then(() => 0),
        );
        break;
    }
  });
}

/** The other end of the channel: a thread, or a port in tests. */
interface Channel {
  postMessage(message: ToThread): void;
  on(event: 'message', listener: (message: FromThread) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
}

/** The proxy in a thread, seen from the thread that owns it. */
export function proxyInThread(
  worker: Channel,
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
): RemoteIngressProxy & { use(config: IngressConfig): Promise<void> } {
  const waiting = new Map<number, { resolve(port: number): void; reject(error: Error): void }>();
  let calls = 0;
  let hasEnded = false;
  const call = (message: (id: number) => ToThread) =>
    new Promise<number>((resolve, reject) => {
      if (hasEnded) return reject(ended());
      const id = ++calls;
      waiting.set(id, { resolve, reject });
      worker.postMessage(message(id));
    });
  worker.on('message', (message: FromThread) => {
    if (message.type === 'warning') {
      log.warn(message.message, message.fields);
      return;
    }
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.type === 'done') caller?.resolve(message.port);
    else caller?.reject(Object.assign(new Error(message.message), { code: message.code }));
  });
  worker.on('exit', () => {
    hasEnded = true;
    for (const { reject } of waiting.values()) reject(ended());
    waiting.clear();
  });
  const turns = new TurnBudget(clock);
  let sent = EMPTY_CONFIG;
  let wanted = EMPTY_CONFIG;
  let sending: Promise<void> | undefined;
  /** Part by part: the thread answers requests in between, and so does this one. */
  async function sendChanges(): Promise<void> {
    try {
      while (sent !== wanted) {
        const next = wanted;
        await sendAll(changesBetween(sent, next, turns));
        sent = next;
      }
    } finally {
      sending = undefined;
    }
  }
  async function sendAll(changes: ReturnType<typeof changesBetween>): Promise<void> {
    for (let isLast = false; !isLast; ) {
      const { value: part, done = false } = changes.next();
      isLast = done;
      if (isLast || part.length > 0) await call((id) => ({ type: 'change', id, part, isLast }));
      if (!isLast && turns.isSpent()) await turns.nextTurn();
    }
  }
  return {
    use(config) {
      wanted = config;
      if (!sending && sent === wanted) return Promise.resolve();
      sending ??= sendChanges();
      return sending;
    },
    listen: (protocol, address, port) => call((id) => ({ type: 'listen', id, protocol, address, port })),
    close: async () => {
      await call((id) => ({ type: 'close', id }));
    },
  };
}

const ended = () => new Error('the thread of the ingress proxy ended');
