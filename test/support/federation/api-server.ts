/** An HTTP server for fakes of cloud APIs, on a loopback port. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ApiReply {
  readonly status: number;
  readonly body: string;
}

export interface ApiServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startApi(handle: (request: ApiRequest) => ApiReply): Promise<ApiServer> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '', `http://${headers.host}`);
    const { status, body } = handle({ method, url, headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(status).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
