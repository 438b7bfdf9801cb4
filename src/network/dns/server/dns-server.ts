/** The DNS server of a cluster: its listeners, and the names that it answers now, which can be replaced as a whole. */

import type { Logger } from '../../../base/log.ts';
import type { Listening, ListenOn } from '../../../base/sockets/listening.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { DnsCounters, listenMetrics } from './metrics.ts';
import type { DnsNames } from './names.ts';
import { Resolver } from './resolver.ts';
import { listenTcp } from './tcp.ts';
import { listenUdp } from './udp.ts';

export interface DnsTools {
  readonly clock: Clock;
  readonly log: Logger;
}

export class DnsServer {
  readonly counters = new DnsCounters();
  readonly #resolver: Resolver;

  constructor(
    private names: DnsNames,
    private readonly tools: DnsTools,
  ) {
    this.#resolver = new Resolver({
      authority: () => this.names.authority,
      isOwnName: (name) => this.names.isOwnName(name),
      forwarder: {
        lookup: (lookup) => this.names.forwarder.lookup(lookup),
        remembered: (lookup) => this.names.forwarder.remembered(lookup),
      },
      isAllowed: (client) => this.names.isAllowed(client),
      counters: this.counters,
    });
  }

  /** Answers by other names from the next query on. */
  use(names: DnsNames): void {
    this.names = names;
  }

  /** Rejects when the port cannot be used. */
  listen(protocol: 'udp' | 'tcp' | 'metrics', on: ListenOn): Promise<Listening> {
    const options = { ...this.tools, on, resolver: this.#resolver };
    switch (protocol) {
      case 'udp':
        return listenUdp(options);
      case 'tcp':
        return listenTcp(options);
      case 'metrics':
        return listenMetrics({ on, counters: this.counters, isAllowed: (client) => this.names.isAllowed(client) });
    }
  }
}
