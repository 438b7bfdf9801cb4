/**
 * The order in which one client prefers the servers of a cluster. Each client draws a weight for each server: clients spread over
 * the servers, those of a server that is gone spread over the others, and no other client moves when a server comes or goes.
 */
import type { Random } from '../../../base/random.ts';

const MAX_WEIGHT = 2 ** 31;

export class ServerRanking {
  /** Weights by URL. They stay when a server is gone, so that its clients return to it. */
  readonly #weights = new Map<string, number>();

  constructor(private readonly random: Random) {}

  /** Returns the servers, best first. */
  sort(servers: Iterable<string>): readonly string[] {
    // Weights are drawn in an order that does not depend on the caller's.
    const all = [...new Set(servers)].sort();
    for (const each of all) if (!this.#weights.has(each)) this.#weights.set(each, this.random.int(MAX_WEIGHT));
    return all.sort((a, b) => this.#weights.get(b)! - this.#weights.get(a)!);
  }
}
