import type { Peer } from '../../exchange.ts';
import type { FrontMessage } from './messages.ts';

interface AnnouncedPeersHost {
  send(message: FrontMessage): void;
  /** Tells the API thread that the connection has closed. */
  withdraw(connection: number): void;
  nextId(): number;
}

/**
 * Tracks the connections that the API thread knows. A connection may close before a request from it is announced: it is
 * then announced with the request, and withdrawn right after it.
 */
export class AnnouncedPeers {
  readonly #ids = new WeakMap<Peer, number>();
  readonly #disconnected = new WeakSet<Peer>();

  constructor(private readonly host: AnnouncedPeersHost) {}

  /** Returns the connection's id, announcing it if necessary. Must be followed by `requestSent`. */
  idOf(peer: Peer): number {
    const known = this.#ids.get(peer);
    if (known !== undefined) return known;
    const id = this.host.nextId();
    const { address, certificate, isUnsecured } = peer;
    this.#ids.set(peer, id);
    this.host.send(['connected', id, address, certificate, isUnsecured]);
    return id;
  }

  /** Records that a request of this connection was sent to the API thread. */
  requestSent(peer: Peer): void {
    if (this.#disconnected.has(peer)) this.disconnected(peer);
  }

  disconnected(peer: Peer): void {
    this.#disconnected.add(peer);
    const id = this.#ids.get(peer);
    if (id === undefined) return;
    this.#ids.delete(peer);
    this.host.withdraw(id);
  }
}
