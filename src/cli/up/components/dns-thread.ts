/** The thread that answers DNS queries, which is started again should it end. */
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Backoff } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { type DnsSettings, startDnsServer } from '../../../network/dns/server/dns-server.ts';
import { type RemoteDnsServer, startInThread } from '../../../network/dns/server/thread.ts';

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

export interface OpenDnsServer extends Pick<RemoteDnsServer, 'apply' | 'allow' | 'close'> {
  readonly port: number;
  readonly metricsPort: number;
  /** Calls back when the server has started again, with an empty zone. */
  onRestart(listener: () => void): void;
}

/** That of CoreDNS. */
const METRICS_PORT = 9153;
const RESTART_BACKOFF_MS = { base: 100, max: 30_000 };
/** Of the thread: a zone of 50,000 names and what clients make it remember take less than half. */
const MAX_HEAP_MB = 256;

/** Listens on the preferred port, or on any free one where it is taken or not allowed. */
export async function openDnsServer(
  settings: Omit<DnsSettings, 'listen' | 'metrics'>,
  preferred: Address,
  tools: Tools,
): Promise<OpenDnsServer> {
  const { clock, random, log } = tools;
  const backoff = new Backoff(RESTART_BACKOFF_MS, random);
  let isClosed = false;
  let onRestart = () => {};
  let clients = settings.clients;
  let current = await start(preferred).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
    log.info('the DNS server uses another port, because that of DNS cannot be used', { reason: error.code });
    return start({ ...preferred, port: 0 });
  });
  const port = current.ports[0]!;
  const metricsPort = current.metricsPort!;

  async function start(listen: Address): Promise<RemoteDnsServer> {
    const own = { ...settings, clients, listen: [listen], metrics: { address: listen.address, port: METRICS_PORT } };
    if (typeof DNS_NAME === 'undefined' || availableParallelism() < 2) {
      const readResolvConf = () => readFile('/etc/resolv.conf', 'utf8').catch(() => '');
      return startDnsServer(own, { ...tools, readResolvConf });
    }
    const worker = new Worker(join(__dirname, DNS_NAME), { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    const ended = new Promise<never>((_, reject) => {
      worker.on('error', reject);
      worker.on('exit', (code) => reject(new Error(`the thread ended with code ${code}`)));
    });
    try {
      const server = await Promise.race([startInThread(worker, own), ended]);
      ended.catch((error) => restart(error));
      return {
        ...server,
        async close() {
          isClosed = true;
          await worker.terminate();
        },
      };
    } catch (error) {
      ended.catch(() => {});
      await worker.terminate();
      throw error;
    }
  }

  function restart(error: unknown): void {
    if (isClosed) return;
    log.error('the thread that answers DNS queries ended; it is started again', { error });
    clock.timer(backoff.next(), () => {
      if (isClosed) return;
      start({ ...preferred, port }).then((next) => {
        current = next;
        onRestart();
      }, restart);
    });
  }

  return {
    ...{ port, metricsPort },
    apply: (changes, isComplete) => current.apply(changes, isComplete),
    allow(next) {
      clients = next;
      current.allow(next);
    },
    onRestart(listener) {
      onRestart = listener;
    },
    async close() {
      isClosed = true;
      await current.close();
    },
  };
}
