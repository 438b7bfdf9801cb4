/** Chooses an endpoint for a client. */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Destination } from '../rules/rule-set.ts';
import type { Front } from './fronts.ts';

/** Clients with affinity that are remembered; the oldest are forgotten. */
const MAX_CLIENTS = 100_000;

interface Remembered {
  readonly endpoint: string;
  readonly until: number;
}

export class Picker {
  readonly #clock: Clock;
  readonly #random: Random;
  /** In the order of their last connections. */
  readonly #clients = new Map<string, Remembered>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns all endpoints in the order in which they should be tried. */
  order({ endpoints, affinity }: Front, client: string): readonly Destination[] {
    const start = this.#random.int(endpoints.length);
    const turned = [...endpoints.slice(start), ...endpoints.slice(0, start)];
    if (!affinity) return turned;
    const known = this.#clients.get(`${affinity.key} ${client}`);
    if (!known || known.until < this.#clock.now()) return turned;
    return turned.sort((a, b) => Number(textOf(b) === known.endpoint) - Number(textOf(a) === known.endpoint));
  }

  /** Remembers where a client was sent. */
  sent({ affinity }: Front, client: string, endpoint: Destination): void {
    if (!affinity) return;
    const key = `${affinity.key} ${client}`;
    this.#clients.delete(key);
    this.#clients.set(key, { endpoint: textOf(endpoint), until: this.#clock.now() + affinity.seconds * 1_000 });
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
