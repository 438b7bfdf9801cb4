/** Accepts TCP connections and connects them to endpoints. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { type Listening, type ListenOn, stopAccepting } from '../../base/sockets/listening.ts';
import type { Destination } from '../rules/rule-set.ts';
import { type Front, perFront } from './fronts.ts';
import type { Picker } from './picker.ts';
import { SourceFilter } from './source-filter.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export interface FrontOptions {
  readonly on: ListenOn;
  /** The front that is served now; undefined: clients are rejected. */
  readonly front: () => Front | undefined;
  readonly picker: Picker;
}

/** Rejects when the address cannot be listened on. */
export async function listenTcpFront({ on, front, picker }: FrontOptions): Promise<Listening> {
  const sources = perFront(({ allowedSources }) => new SourceFilter(allowedSources));
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    client.on('error', () => client.destroy());
    const served = front();
    if (served && sources(served).allows(client.remoteAddress)) void serve(client, served, picker);
    else client.destroy();
  });
  if ('handle' in on) server.listen(on.handle);
  else server.listen({ host: on.address, port: on.port, ipv6Only: on.address.includes(':'), exclusive: true });
  await once(server, 'listening');
  server.on('error', () => undefined);
  return {
    port: (server.address() as AddressInfo).port,
    handle: server,
    async close() {
      // Closing completes when the last connection ends, which is not awaited.
      server.close();
    },
    release: () => stopAccepting(server),
  };
}

async function serve(client: Socket, front: Front, picker: Picker): Promise<void> {
  const address = client.remoteAddress ?? '';
  const failed: Destination[] = [];
  for (;;) {
    const endpoint = picker.pick(front, address, failed);
    if (!endpoint) break;
    const upstream = await connectTo(endpoint.address, endpoint.port);
    if (upstream) return join(client, upstream);
    failed.push(endpoint);
  }
  client.resetAndDestroy();
}

function connectTo(host: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    const fail = () => {
      socket.destroy();
      resolve(undefined);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, fail);
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

/** Joins two sockets. Each direction ends by itself; an error ends both. */
function join(a: Socket, b: Socket): void {
  const ended = (error: unknown) => {
    if (!error) return;
    a.destroy();
    b.destroy();
  };
  pipeline(a, b, ended);
  pipeline(b, a, ended);
}
