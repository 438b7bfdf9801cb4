/** Accepts TCP connections and connects them to endpoints. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { Destination } from '../rules/rule-set.ts';
import type { Front } from './fronts.ts';
import type { OpenFront } from './open-front.ts';
import type { Picker } from './picker.ts';
import { SourceFilter } from './source-filter.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/** Rejects when the address cannot be listened on. */
export async function openTcpFront(first: Front, picker: Picker): Promise<OpenFront> {
  let front = first;
  let sources = new SourceFilter(front.allowedSources);
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    client.on('error', () => client.destroy());
    if (sources.allows(client.remoteAddress)) void serve(client, front, picker);
    else client.destroy();
  });
  server.listen({ host: front.host, port: front.port, ipv6Only: front.host.includes(':') });
  await once(server, 'listening');
  server.on('error', () => undefined);
  return {
    use(next) {
      front = next;
      sources = new SourceFilter(front.allowedSources);
    },
    async close() {
      // Closing completes when the last connection ends, which is not awaited.
      server.close();
    },
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
