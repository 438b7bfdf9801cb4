import type { Socket } from 'node:net';
import type { Logger } from '../../base/log.ts';
import { head } from '../metrics/text.ts';
import type { Limits } from './limits.ts';

export interface ConnectionsOptions {
  readonly limits: Pick<Limits, 'connections' | 'connectionsPerAddress'>;
  readonly log: Logger;
  /** Makes one wait who opens connections faster than others; undefined where he need not. */
  readonly pace?: ((address: string) => Promise<void> | undefined) | undefined;
}

/**
 * Who is connected. A connection too many is closed before anything is read of it: a handshake costs as much as ten
 * requests, and a connection that is open as much memory as a hundred objects.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<Socket>();
  readonly #byAddress = new Map<string, number>();
  #refused = 0;
  #isFull = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Runs `serve` for a connection that may stay, at once or when it is its turn. */
  admit(socket: Socket, serve: () => void): void {
    const address = socket.remoteAddress ?? '';
    const count = this.#byAddress.get(address) ?? 0;
    const { limits, pace } = this.#options;
    if (this.#open.size >= limits.connections || count >= limits.connectionsPerAddress) {
      this.#refuse(socket, address);
      return;
    }
    this.#add(socket, address, count);
    const waiting = pace?.(address);
    if (!waiting) serve();
    else void waiting.then(() => (socket.destroyed ? undefined : serve()));
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  *lines(): Generator<string> {
    yield head('apiserver_open_connections', 'gauge', 'Connections that are open.');
    yield `apiserver_open_connections ${this.#open.size}`;
    yield head('apiserver_refused_connections_total', 'counter', 'Connections that were closed because of a limit.');
    yield `apiserver_refused_connections_total ${this.#refused}`;
  }

  #add(socket: Socket, address: string, count: number): void {
    this.#open.add(socket);
    this.#byAddress.set(address, count + 1);
    socket.once('close', () => {
      this.#open.delete(socket);
      const left = (this.#byAddress.get(address) ?? 1) - 1;
      if (left > 0) this.#byAddress.set(address, left);
      else this.#byAddress.delete(address);
      // Said again when it was over for good, and not for each that comes and goes.
      if (this.#open.size < this.#options.limits.connections / 2) this.#isFull = false;
    });
  }

  #refuse(socket: Socket, address: string): void {
    this.#refused++;
    if (!this.#isFull) this.#options.log.warn('connections are refused: too many are open', { address });
    this.#isFull = true;
    socket.on('error', () => undefined);
    socket.destroy();
  }
}
