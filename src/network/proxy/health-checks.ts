/** Answers load balancers that ask whether this node has endpoints of a service. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Logger } from '../../base/log.ts';
import type { HealthCheck } from '../rules/rule-set.ts';

interface Open {
  check: HealthCheck;
  readonly server: Server;
}

export interface HealthChecksOptions {
  readonly log: Logger;
  /** Makes a server listen on a port of the node. Rejects when it cannot. */
  readonly listen: (server: Server, port: number) => Promise<void>;
}

export class HealthChecks {
  readonly #open = new Map<string, Open>();

  constructor(private readonly options: HealthChecksOptions) {}

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
    this.#open.set(service, { check, server });
    try {
      await this.options.listen(server, check.port);
    } catch (error) {
      this.options.log.warn('the health check port of a service cannot be opened', {
        service,
        port: check.port,
        error,
      });
      this.#open.delete(service);
    }
  }

  async #close(service: string, server: Server): Promise<void> {
    this.#open.delete(service);
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
}
