import type { Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { networkOf } from '../../fairness/network.ts';
import { head } from '../../metrics/text.ts';
import type { Limits } from '../limits.ts';
import { closeWhenLeft } from './close-on-disconnect.ts';

export interface ConnectionsOptions {
  readonly limits: Pick<Limits, 'connections' | 'connectionsPerAddress'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes one wait who opens connections faster than others; undefined where he need not. */
  readonly pace?: ((address: string) => Promise<void> | undefined) | undefined;
  /** Told whenever they change. */
  readonly counted?: ((counts: ConnectionCounts) => void) | undefined;
}

/** How many are open, and how many were closed because of a limit. */
export interface ConnectionCounts {
  readonly open: number;
  readonly refused: number;
}

export function* connectionLines({ open, refused }: ConnectionCounts): Generator<string> {
  yield head('apiserver_open_connections', 'gauge', 'Connections that are open.');
  yield `apiserver_open_connections ${open}`;
  yield head('apiserver_refused_connections_total', 'counter', 'Connections that were closed because of a limit.');
  yield `apiserver_refused_connections_total ${refused}`;
}

/** Milliseconds between two words about refusals: there may be thousands a second. */
const QUIET = 60_000;

/**
 * Who is connected. A connection too many is closed before anything is read of it: a handshake costs as much as ten
 * requests, and a connection that is open as much memory as a hundred objects.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<Socket>();
  readonly #byNetwork = new Map<string, number>();
  #refused = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Runs `serve` for a connection that may stay, at once or when it is its turn. */
  admit(socket: Socket, serve: () => void): void {
    const address = socket.remoteAddress ?? '';
    const network = networkOf(address);
    const count = this.#byNetwork.get(network) ?? 0;
    const { limits, pace } = this.#options;
    if (this.#open.size >= limits.connections || count >= limits.connectionsPerAddress) {
      this.#refuse(socket, address);
      return;
    }
    this.#add(socket, network, count);
    const waiting = pace?.(address);
    if (!waiting) {
      serve();
      return;
    }
    const free = closeWhenLeft(socket);
    void waiting.then(() => {
      free();
      if (!socket.destroyed) serve();
    });
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  lines(): Iterable<string> {
    return connectionLines({ open: this.#open.size, refused: this.#refused });
  }

  #add(socket: Socket, network: string, count: number): void {
    this.#open.add(socket);
    // One that waits for its turn has nobody else who listens, and whoever breaks it off would end the program.
    socket.on('error', () => undefined);
    this.#byNetwork.set(network, count + 1);
    this.#count();
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#count();
      const left = (this.#byNetwork.get(network) ?? 1) - 1;
      if (left > 0) this.#byNetwork.set(network, left);
      else this.#byNetwork.delete(network);
    });
  }

  #refuse(socket: Socket, address: string): void {
    this.#refused++;
    this.#count();
    const { clock, log } = this.#options;
    if (clock.now() - this.#saidAt >= QUIET) {
      this.#saidAt = clock.now();
      log.warn('connections are refused: too many are open', { address, refused: this.#refused });
    }
    socket.on('error', () => undefined);
    socket.destroy();
  }

  #count(): void {
    this.#options.counted?.({ open: this.#open.size, refused: this.#refused });
  }
}
