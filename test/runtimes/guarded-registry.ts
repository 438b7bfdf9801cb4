/** Starts a registry that demands a password, in front of one that does not. */
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface GuardedRegistry {
  /** `127.0.0.1:PORT`. */
  readonly name: string;
  stop(): Promise<void>;
}

export async function guardRegistry(registry: string, password: string): Promise<GuardedRegistry> {
  const wanted = `Basic ${Buffer.from(password).toString('base64')}`;
  const server = createServer(({ method, url, headers }, response) => {
    if (headers.authorization !== wanted) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="guarded"' }).end();
      return;
    }
    const { authorization: _, ...others } = headers;
    const onwards = forward(`http://${registry}${url}`, { method, headers: { ...others, host: registry } });
    onwards.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onwards.on('error', (error) => response.destroy(error));
    onwards.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    name: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
