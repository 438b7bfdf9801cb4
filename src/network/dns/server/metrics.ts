/** The numbers of the DNS server for Prometheus, under the names that CoreDNS has for them, so that its dashboards can be used. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { head } from '../../../base/metrics/text.ts';
import { type Listening, type ListenOn, stopAccepting } from '../../../base/sockets/listening.ts';
import { ResponseCode } from '../../../protocols/dns-message/codes.ts';

interface MetricsOptions {
  readonly on: ListenOn;
  readonly counters: DnsCounters;
  readonly isAllowed: (client: string) => boolean;
}

const CODE_NAMES = new Map<number, string>(Object.entries(ResponseCode).map(([name, code]) => [code, name]));
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

function metricsText(counters: DnsCounters): string {
  const { queries, malformed, own, remembered, forwarded, dropped, codes } = counters;
  const server = 'server="dns://:53"';
  const responses = [...codes].map(([code, count]) => [`{${server},rcode="${CODE_NAMES.get(code) ?? code}"}`, count]);
  return [
    ...metric('coredns_dns_requests_total', 'Queries received.', [[`{${server}}`, queries]]),
    ...metric('coredns_dns_responses_total', 'Responses by code.', responses),
    ...metric('coredns_cache_hits_total', 'Answers that an upstream server had given before.', [
      [`{${server}}`, remembered],
    ]),
    ...metric('coredns_cache_misses_total', 'Queries that an upstream server had to be asked for.', [
      [`{${server}}`, forwarded],
    ]),
    ...metric('coredns_forward_requests_total', 'Queries sent to upstream servers.', [['', forwarded]]),
    ...metric('quarterdeck_dns_own_answers_total', 'Answers from the zone of the cluster.', [['', own]]),
    ...metric('quarterdeck_dns_malformed_total', 'Messages that are no valid queries.', [['', malformed]]),
    ...metric('quarterdeck_dns_dropped_total', 'Queries that were dropped because of a limit.', [['', dropped]]),
    '',
  ].join('\n');
}

function metric(name: string, help: string, values: readonly (readonly (string | number)[])[]): readonly string[] {
  return [head(name, 'counter', help), ...values.map(([labels, value]) => `${name}${labels} ${value}`)];
}

/** Serves `/metrics` to clients that may ask the DNS server. */
export async function listenMetrics({ on, counters, isAllowed }: MetricsOptions): Promise<Listening> {
  const server = createServer(({ url, method, socket }, response) => {
    const client = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    if (!isAllowed(client)) return response.writeHead(403).end();
    if (url?.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    if (method !== 'GET' && method !== 'HEAD') return response.writeHead(405).end();
    return response.writeHead(200, { 'Content-Type': CONTENT_TYPE }).end(metricsText(counters));
  });
  if ('handle' in on) server.listen(on.handle);
  else server.listen({ host: on.address, port: on.port, exclusive: true });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    handle: server,
    release: () => stopAccepting(server),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Numbers of queries and answers since the start. */
export class DnsCounters {
  queries = 0;
  malformed = 0;
  /** Answered from the zone. */
  own = 0;
  /** Queries answered with an earlier answer of an upstream server. */
  remembered = 0;
  forwarded = 0;
  /** Dropped because a limit was reached. */
  dropped = 0;
  /** Responses by their code. */
  readonly codes = new Map<number, number>();

  count(code: number): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }
}
