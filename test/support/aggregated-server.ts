/** An aggregated API server on loopback, as another program would run it: it believes headers only of the front proxy. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type TestAuthority, testAuthority } from './tls.ts';

interface SeenRequest {
  readonly method: string;
  readonly url: string;
  /** Names, as sent, and values. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Common name of the verified client certificate. */
  readonly client: string | undefined;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface AggregatedServer {
  readonly port: number;
  /** PEM as base64, for `caBundle`. */
  readonly caBundle: string;
  /** Requests besides those of this server about the API itself. */
  readonly seen: SeenRequest[];
  /** Answers requests whose path ends like this. */
  on(end: string, answer: Answer): void;
  onUpgrade(answer: (request: IncomingMessage, socket: Duplex) => void): void;
  /** Ends all connections as they are. */
  drop(): void;
  close(): void;
}

export const RESOURCES = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'gauges.example.com/v1',
  resources: [
    {
      ...{ name: 'gauges', singularName: 'gauge', namespaced: true, kind: 'Gauge' },
      ...{ verbs: ['get', 'list', 'watch'], shortNames: ['gg'] },
    },
    {
      name: 'gauges/scale',
      singularName: '',
      namespaced: true,
      kind: 'Scale',
      group: 'autoscaling',
      version: 'v1',
      verbs: ['get'],
    },
  ],
};

export async function startAggregated(frontProxy: TestAuthority, ...names: string[]): Promise<AggregatedServer> {
  const authority = await testAuthority('aggregated-ca');
  const answers = new Map<string, Answer>();
  const seen: SeenRequest[] = [];
  let upgrade: (request: IncomingMessage, socket: Duplex) => void = (_, socket) => socket.destroy();
  const server = createServer(
    { ...(await authority.server(...names)), ca: frontProxy.ca, requestCert: true, rejectUnauthorized: false },
    async (request, response) => {
      const own = request.headers['x-remote-user'] === 'system:kube-aggregator';
      const path = request.url!.split('?')[0]!;
      const answer = [...answers].findLast(([end]) => path.endsWith(end))?.[1];
      if (!own) {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        seen.push(seenOf(request, Buffer.concat(chunks).toString()));
      }
      if (answer) answer(request, response);
      else if (path.startsWith('/openapi')) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(RESOURCES));
    },
  );
  server.on('upgrade', (request, socket) => {
    seen.push(seenOf(request, ''));
    upgrade(request, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    caBundle: Buffer.from(authority.ca).toString('base64'),
    seen,
    on: (end, answer) => void answers.set(end, answer),
    onUpgrade(next) {
      upgrade = next;
    },
    drop: () => server.closeAllConnections(),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function seenOf({ method = '', url = '', rawHeaders, headers, socket }: IncomingMessage, body: string): SeenRequest {
  const { authorized } = socket as TLSSocket;
  const client = authorized ? String((socket as TLSSocket).getPeerCertificate().subject.CN) : undefined;
  return { method, url, rawHeaders: [...rawHeaders], headers, body, client };
}
