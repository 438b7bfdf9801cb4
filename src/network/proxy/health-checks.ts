/** Answers load balancers that ask whether this node has endpoints of a service. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Logger } from '../../base/log.ts';
import type { HealthCheck } from '../rules/rule-set.ts';

interface Open {
  check: HealthCheck;
  readonly server: Server;
}

export class HealthChecks {
  readonly #open = new Map<string, Open>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Opens, changes or closes the port of a service. */
  async set(service: string, check: HealthCheck | undefined): Promise<void> {
    const open = this.#open.get(service);
    if (open && check?.port === open.check.port) {
      open.check = check;
      return;
    }
    if (open) await this.#close(service, open.server);
    if (check) await this.#serve(service, check);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map(([service, { server }]) => this.#close(service, server)));
  }

  async #serve(service: string, check: HealthCheck): Promise<void> {
    const server = createServer((_, response) => {
      const { namespace, name, localEndpoints } = this.#open.get(service)?.check ?? check;
      response.writeHead(localEndpoints > 0 ? 200 : 503, {
        'Content-Type': 'application/json',
        'X-Content-Type-Options': 'nosniff',
        'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
      });
      response.end(JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy: true }));
    });
    server.on('error', (error) => {
      this.#log.warn('the health check port of a service cannot be opened', { service, port: check.port, error });
      this.#open.delete(service);
    });
    this.#open.set(service, { check, server });
    server.listen(check.port);
    await Promise.race([once(server, 'listening'), once(server, 'close')]).catch(() => undefined);
  }

  async #close(service: string, server: Server): Promise<void> {
    this.#open.delete(service);
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
}
