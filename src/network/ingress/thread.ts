/**
 * The ingress proxy in a thread of its own, so that the API server does not wait while requests are forwarded. The two sides
 * exchange plain messages.
 */
import type { MessagePort } from 'node:worker_threads';
import { type LogFields, type Logger, silent } from '../../base/log.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { IngressConfig } from './config.ts';
import { IngressProxy } from './proxy.ts';

type ToThread =
  | {
      readonly type: 'listen';
      readonly id: number;
      readonly protocol: 'http' | 'https';
      readonly address: string;
      readonly port: number;
    }
  | { readonly type: 'use'; readonly config: IngressConfig }
  | { readonly type: 'close'; readonly id: number };

type FromThread =
  | { readonly type: 'done'; readonly id: number; readonly port: number }
  | { readonly type: 'failed'; readonly id: number; readonly code: string | undefined; readonly message: string }
  | { readonly type: 'warning'; readonly message: string; readonly fields: LogFields | undefined };

/** What the controller needs of the proxy. */
export type RemoteIngressProxy = Pick<IngressProxy, 'use' | 'listen' | 'close'>;

/** Runs inside the thread. */
export function serveIngressThread(port: MessagePort, clock: Clock): void {
  const reply = (message: FromThread) => port.postMessage(message);
  const log: Logger = { ...silent, warn: (message, fields) => reply({ type: 'warning', message, fields }) };
  const proxy = new IngressProxy({ clock, log });
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
      case 'use':
        proxy.use(message.config);
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
export function proxyInThread(worker: Channel, log: Logger): RemoteIngressProxy {
  const waiting = new Map<number, { resolve(port: number): void; reject(error: Error): void }>();
  let calls = 0;
  const send = (message: ToThread) => worker.postMessage(message);
  const call = (message: (id: number) => ToThread) =>
    new Promise<number>((resolve, reject) => {
      const id = ++calls;
      waiting.set(id, { resolve, reject });
      send(message(id));
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
    for (const { reject } of waiting.values()) reject(new Error('the thread of the ingress proxy ended'));
    waiting.clear();
  });
  return {
    use: (config) => send({ type: 'use', config }),
    listen: (protocol, address, port) => call((id) => ({ type: 'listen', id, protocol, address, port })),
    close: async () => {
      await call((id) => ({ type: 'close', id }));
    },
  };
}
