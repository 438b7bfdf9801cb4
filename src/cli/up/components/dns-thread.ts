/** The DNS server, in a thread of its own where the machine has two processors. */
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { type DnsSettings, startDnsServer } from '../../../network/dns/server/dns-server.ts';
import { type RemoteDnsServer, startInThread } from '../../../network/dns/server/thread.ts';
import { NO_UPSTREAMS } from '../../../network/dns/upstream/stub-domains.ts';
import { startThread } from './lasting-thread.ts';

/** Defined by the build; absent when the sources run directly. */
declare const DNS_NAME: string | undefined;

interface Tools {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Address {
  readonly address: string;
  readonly port: number;
}

export interface OpenDnsServer extends Pick<RemoteDnsServer, 'apply' | 'allow' | 'forward' | 'close'> {
  readonly port: number;
  readonly metricsPort: number;
  /** Calls back when the server has started again, with an empty zone. */
  onRestart(listener: () => void): void;
}

/** That of CoreDNS. */
const METRICS_PORT = 9153;
/** Of the thread: a zone of 50,000 names and what clients make it remember take less than half. */
const MAX_HEAP_MB = 256;

/** Listens on the preferred port, or on any free one where it is taken or not allowed. */
export async function openDnsServer(
  settings: Omit<DnsSettings, 'listen' | 'metrics'>,
  preferred: Address,
  tools: Tools,
): Promise<OpenDnsServer> {
  const { log } = tools;
  let onRestart = () => {};
  let clients = settings.clients;
  let upstreams = NO_UPSTREAMS;
  let port: number | undefined;
  let current: RemoteDnsServer;

  const settingsFor = (listen: Address): DnsSettings => ({
    ...{ ...settings, clients, listen: [listen], metrics: { address: listen.address, port: METRICS_PORT } },
  });

  async function start(listen: Address): Promise<Started> {
    if (typeof DNS_NAME === 'undefined' || availableParallelism() < 2) {
      const readResolvConf = () => readFile('/etc/resolv.conf', 'utf8').catch(() => '');
      const server = await startDnsServer(settingsFor(listen), { ...tools, readResolvConf });
      return { server, close: () => server.close() };
    }
    const thread = await startThread({
      ...{ ...tools, file: DNS_NAME, maxHeapMb: MAX_HEAP_MB },
      open: (worker) => startInThread(worker, settingsFor({ ...listen, port: port ?? listen.port })),
      onRestart(server) {
        current = server;
        server.allow(clients);
        server.forward(upstreams);
        onRestart();
      },
    });
    return { server: thread.opened, close: () => thread.close() };
  }

  const { server, close } = await start(preferred).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
    log.info('the DNS server uses another port, because that of DNS cannot be used', { reason: error.code });
    return start({ ...preferred, port: 0 });
  });
  current = server;
  port = server.ports[0]!;
  return {
    ...{ port, metricsPort: server.metricsPort! },
    apply: (changes, isComplete) => current.apply(changes, isComplete),
    allow(next) {
      clients = next;
      current.allow(next);
    },
    forward(next) {
      upstreams = next;
      current.forward(next);
    },
    onRestart(listener) {
      onRestart = listener;
    },
    close,
  };
}

interface Started {
  readonly server: RemoteDnsServer;
  close(): Promise<void>;
}
