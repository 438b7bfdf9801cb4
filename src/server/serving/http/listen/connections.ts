import type { Socket } from 'node:net';
import { soon } from '../../../../base/event-loop/soon.ts';
import { head } from '../../../../base/metrics/text.ts';
import type { Tools } from '../../../../base/tools.ts';
import { networkOf } from '../../../access/fairness/network.ts';
import type { Limits } from '../limits.ts';
import { omitStackTraces } from '../node-internals.ts';
import { closeOnDisconnect } from './close-on-disconnect.ts';

export interface ConnectionsOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly limits: Pick<Limits, 'maxConnections' | 'maxConnectionsPerAddress'>;
  /** Delays a client that opens connections too fast; undefined when no delay is needed. */
  readonly pace?: ((address: string) => Promise<void> | undefined) | undefined;
  readonly onCounts?: ((counts: ConnectionCounts) => void) | undefined;
}

/** Number of open connections, and of those rejected because of a limit. */
export interface ConnectionCounts {
  readonly open: number;
  readonly refused: number;
}

export function* connectionMetrics({ open, refused }: ConnectionCounts): Generator<string> {
  yield head('apiserver_open_connections', 'gauge', 'Number of open connections.');
  yield `apiserver_open_connections ${open}`;
  yield head('apiserver_refused_connections_total', 'counter', 'Number of connections refused because of a limit.');
  yield `apiserver_refused_connections_total ${refused}`;
}

/** Minimum time between warnings: there may be thousands of rejections per second. */
const WARNING_INTERVAL_MS = 60_000;

/** Disconnects in one turn of the event loop up to which errors have stack traces. */
const CHEAP_DISCONNECTS = 10;

/**
 * Counts and limits open connections. Connections above a limit are closed before anything is read from them: a TLS
 * handshake costs as much as ten requests, and an open connection as much memory as a hundred objects.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<Socket>();
  readonly #countByNetwork = new Map<string, number>();
  #refused = 0;
  /** Connections that were closed in this turn of the event loop. */
  #closedInTurn = 0;
  readonly #resetSoon = soon(() => (this.#closedInTurn = 0));
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Runs `serve` for a connection within the limits, at once or after the delay of `pace`. */
  admit(socket: Socket, serve: () => void): void {
    const address = socket.remoteAddress ?? '';
    const network = networkOf(address);
    const count = this.#countByNetwork.get(network) ?? 0;
    const { limits, pace } = this.#options;
    if (this.#open.size >= limits.maxConnections || count >= limits.maxConnectionsPerAddress) {
      this.#refuse(socket, address);
      return;
    }
    this.#add(socket, network, count);
    const delay = pace?.(address);
    if (!delay) {
      serve();
      return;
    }
    const release = closeOnDisconnect(socket);
    void delay.then(() => {
      release();
      if (!socket.destroyed) serve();
    });
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Metrics, line by line. */
  lines(): Iterable<string> {
    return connectionMetrics({ open: this.#open.size, refused: this.#refused });
  }

  #add(socket: Socket, network: string, count: number): void {
    this.#open.add(socket);
    // A delayed connection has no other listener yet, and an unhandled error event would end the process.
    socket.on('error', () => undefined);
    this.#countByNetwork.set(network, count + 1);
    this.#reportCounts();
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#disconnected();
      this.#reportCounts();
      const left = (this.#countByNetwork.get(network) ?? 1) - 1;
      if (left > 0) this.#countByNetwork.set(network, left);
      else this.#countByNetwork.delete(network);
    });
  }

  #disconnected(): void {
    if (++this.#closedInTurn > CHEAP_DISCONNECTS) omitStackTraces();
    this.#resetSoon();
  }

  #refuse(socket: Socket, address: string): void {
    this.#refused++;
    this.#reportCounts();
    const { clock, log } = this.#options;
    if (clock.now() - this.#warnedAt >= WARNING_INTERVAL_MS) {
      this.#warnedAt = clock.now();
      log.warn('refusing connections: too many are open', { address, refused: this.#refused });
    }
    socket.on('error', () => undefined);
    socket.destroy();
  }

  #reportCounts(): void {
    this.#options.onCounts?.({ open: this.#open.size, refused: this.#refused });
  }
}
