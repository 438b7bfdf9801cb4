/**
 * The DNS server in a thread of its own, so that answers do not wait for the API server, nor requests for queries. The two
 * sides exchange plain messages.
 */
import { EventEmitter, once } from 'node:events';
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Upstreams } from '../upstream/stub-domains.ts';
import type { ZoneChange } from '../zone/zone.ts';
import { type DnsServer, type DnsSettings, type DnsTools, startDnsServer } from './dns-server.ts';

/** Data as Latin-1 text: a copied buffer would bring all of its slab along. */
type SentRecord = readonly [name: string, type: number, data: string];
interface SentChange {
  readonly source: string;
  readonly records: readonly SentRecord[];
}

type ToThread =
  | { readonly type: 'start'; readonly settings: DnsSettings }
  | { readonly type: 'apply'; readonly changes: readonly SentChange[]; readonly isComplete: boolean }
  | { readonly type: 'allow'; readonly clients: readonly string[] }
  | { readonly type: 'forward'; readonly upstreams: Upstreams }
  | { readonly type: 'close' };

type FromThread =
  | { readonly type: 'listening'; readonly ports: readonly number[]; readonly metricsPort: number | undefined }
  | { readonly type: 'failed'; readonly code: string | undefined; readonly message: string }
  | { readonly type: 'closed' };

/** What the owner of the thread can do with the server. */
export type RemoteDnsServer = Pick<DnsServer, 'ports' | 'metricsPort' | 'apply' | 'allow' | 'forward' | 'close'>;

/** Runs inside the thread. */
export function serveDnsThread(port: MessagePort, tools: DnsTools): void {
  let server: DnsServer | undefined;
  const reply = (message: FromThread) => port.postMessage(message);
  port.on('message', (message: ToThread) => {
    switch (message.type) {
      case 'start':
        startDnsServer(message.settings, tools).then(
          (started) => {
            server = started;
            reply({ type: 'listening', ports: started.ports, metricsPort: started.metricsPort });
          },
          (error: NodeJS.ErrnoException) => reply({ type: 'failed', code: error.code, message: error.message }),
        );
        break;
      case 'apply':
        server?.apply(message.changes.map(received), message.isComplete);
        break;
      case 'allow':
        server?.allow(message.clients);
        break;
      case 'forward':
        server?.forward(message.upstreams);
        break;
      case 'close':
        void server?.close().then(() => reply({ type: 'closed' }));
        break;
    }
  });
}

/** Starts the server in a thread. Rejects when a port cannot be used; the thread can then be asked again. */
export async function startInThread(worker: Worker, settings: DnsSettings): Promise<RemoteDnsServer> {
  const send = (message: ToThread) => worker.postMessage(message);
  const replies = new EventEmitter();
  worker.on('message', (message: FromThread) => replies.emit('message', message));
  worker.on('error', (error) => replies.emit('error', error));
  const answered = once(replies, 'message');
  send({ type: 'start', settings });
  const [first] = (await answered) as [FromThread];
  if (first.type !== 'listening') {
    const { code, message } = first as Extract<FromThread, { type: 'failed' }>;
    throw Object.assign(new Error(message), { code });
  }
  replies.on('error', () => {});
  return {
    ports: first.ports,
    metricsPort: first.metricsPort,
    apply: (changes, isComplete = true) => send({ type: 'apply', changes: changes.map(sent), isComplete }),
    allow: (clients) => send({ type: 'allow', clients }),
    forward: (upstreams) => send({ type: 'forward', upstreams }),
    async close() {
      const closed = once(replies, 'message');
      send({ type: 'close' });
      await closed;
    },
  };
}

function sent({ source, records }: ZoneChange): SentChange {
  return { source, records: records.map(({ name, type, data }) => [name, type, data.toString('latin1')] as const) };
}

function received({ source, records }: SentChange): ZoneChange {
  return { source, records: records.map(([name, type, data]) => ({ name, type, data: Buffer.from(data, 'latin1') })) };
}
