import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type ClientAuthorities, certificateOf } from '../../../access/authn/certificate.ts';
import type { Peer } from '../../exchange.ts';

/** The peers of connections, looked up once per connection: by socket for HTTP/1, by session for HTTP/2. */
export class PeerCache {
  readonly #peers = new WeakMap<object, Peer>();
  readonly #onDisconnect: ((peer: Peer) => void) | undefined;

  constructor(onDisconnect: ((peer: Peer) => void) | undefined) {
    this.#onDisconnect = onDisconnect;
  }

  /** Records the certificate of a TLS connection. A socket that is already known keeps its peer. */
  addSecure(key: Socket | Http2Session, socket: TLSSocket, authorities: ClientAuthorities): void {
    if (this.#peers.has(key)) return;
    const certificate = certificateOf(socket, authorities);
    this.#add(key, { address: socket.remoteAddress ?? '', certificate, isUnsecured: false });
  }

  get(key: Socket | Http2Session, isUnsecured: boolean): Peer {
    const known = this.#peers.get(key);
    if (known) return known;
    const { remoteAddress } = 'socket' in key ? key.socket : key;
    return this.#add(key, { address: remoteAddress ?? '', certificate: undefined, isUnsecured });
  }

  #add(key: Socket | Http2Session, peer: Peer): Peer {
    const onDisconnect = this.#onDisconnect;
    this.#peers.set(key, peer);
    if (onDisconnect) key.once('close', () => onDisconnect(peer));
    return peer;
  }
}
