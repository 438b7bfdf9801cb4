/** Chooses an endpoint for a client. */

import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Destination } from '../rules/rule-set.ts';
import type { Front } from './fronts.ts';

/** Clients with affinity that are remembered; the oldest are forgotten. */
const MAX_CLIENTS = 100_000;

interface Remembered {
  readonly endpoint: string;
  readonly until: number;
}

export class Picker {
  /** Clients in the order of their last connections. */
  readonly #clients = new Map<string, Remembered>();

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /**
   * Chooses an endpoint, or undefined when all have failed. A client with affinity is remembered at once, not when it is
   * connected, so that connections that it opens at the same time go to the same endpoint, also after that has failed.
   */
  pick({ endpoints, affinity }: Front, client: string, failed: readonly Destination[] = []): Destination | undefined {
    const left = failed.length === 0 ? endpoints : endpoints.filter((endpoint) => !failed.includes(endpoint));
    if (left.length === 0) return undefined;
    if (!affinity) return left[this.random.int(left.length)];
    const key = `${affinity.key} ${client}`;
    const endpoint = this.#known(key, left) ?? (left[this.random.int(left.length)] as Destination);
    this.#remember(key, { endpoint: textOf(endpoint), until: this.clock.now() + affinity.seconds * 1_000 });
    return endpoint;
  }

  #known(key: string, endpoints: readonly Destination[]): Destination | undefined {
    const known = this.#clients.get(key);
    if (!known || known.until < this.clock.now()) return undefined;
    return endpoints.find((endpoint) => textOf(endpoint) === known.endpoint);
  }

  #remember(key: string, sent: Remembered): void {
    this.#clients.delete(key);
    this.#clients.set(key, sent);
    if (this.#clients.size <= MAX_CLIENTS) return;
    for (const oldest of this.#clients.keys()) {
      this.#clients.delete(oldest);
      break;
    }
  }
}

export function textOf({ address, port }: Destination): string {
  return `${address} ${port}`;
}
