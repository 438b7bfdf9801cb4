import type { Peer } from '../protocol/exchange.ts';
import type { FrontWord } from './protocol.ts';

/**
 * What the other thread has heard of connections. One may end before a request that came through it is told of: the other
 * thread hears of it once more then, and forgets it when it has the request.
 */
export class Peers {
  readonly #numbers = new WeakMap<Peer, number>();
  readonly #departed = new WeakSet<Peer>();

  constructor(
    private readonly say: (word: FrontWord) => void,
    private readonly next: () => number,
  ) {}

  /** The number of the connection, which the other thread knows until `told`. */
  numberOf(peer: Peer): number {
    const known = this.#numbers.get(peer);
    if (known !== undefined) return known;
    const number = this.next();
    const { address, certificate, isUnsecured } = peer;
    this.#numbers.set(peer, number);
    this.say(['connection', number, address, certificate, isUnsecured]);
    return number;
  }

  /** The other thread has heard of a request of it. */
  told(peer: Peer): void {
    if (this.#departed.has(peer)) this.left(peer);
  }

  left(peer: Peer): void {
    this.#departed.add(peer);
    const number = this.#numbers.get(peer);
    if (number === undefined) return;
    this.#numbers.delete(peer);
    this.say(['disconnected', number]);
  }
}
