import { silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/base/time/clock.ts';
import { DnsServer } from '../../../src/network/dns/server/dns-server.ts';
import type { DnsCounters } from '../../../src/network/dns/server/metrics.ts';
import { DnsNames, type DnsSettings } from '../../../src/network/dns/server/names.ts';

export interface TestDnsServer {
  readonly names: DnsNames;
  readonly counters: DnsCounters;
  /** Port for UDP and TCP. */
  readonly port: number;
  readonly metricsPort: number;
  use(names: DnsNames): void;
  close(): Promise<void>;
}

export function dnsNames(settings: DnsSettings): DnsNames {
  const tools = { clock: systemClock, random: systemRandom, readResolvConf: async () => '', ownAddresses: () => [] };
  return new DnsNames(settings, tools);
}

/** A server on loopback. */
export async function startDns(settings: DnsSettings, port = 0): Promise<TestDnsServer> {
  const names = dnsNames(settings);
  const server = new DnsServer(names, { clock: systemClock, log: silent });
  const on = { address: '127.0.0.1', port };
  const { udp, tcp } = await listenOnBoth(server, on);
  const metrics = await server.listen('metrics', { ...on, port: 0 });
  return {
    ...{ names, counters: server.counters, port: udp.port, metricsPort: metrics.port },
    use: (next) => server.use(next),
    async close() {
      await Promise.all([udp.close(), tcp.close(), metrics.close()]);
    },
  };
}

/** A port that is free for UDP may be taken for TCP: if any will do, another one is tried. */
async function listenOnBoth(server: DnsServer, on: { readonly address: string; readonly port: number }) {
  for (;;) {
    const udp = await server.listen('udp', on);
    try {
      return { udp, tcp: await server.listen('tcp', { ...on, port: udp.port }) };
    } catch (error) {
      await udp.close();
      if (on.port !== 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
