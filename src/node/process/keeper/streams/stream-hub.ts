/** Brings together the connections of streams and those who wait for them. */
import type { Socket } from 'node:net';
import type { StreamName } from '../../wire/calls.ts';

export class StreamHub {
  readonly #arrived = new Map<string, Socket>();
  readonly #wanted = new Map<string, (socket: Socket) => void>();

  arrive(stream: string, name: StreamName, socket: Socket): void {
    const key = `${stream} ${name}`;
    const want = this.#wanted.get(key);
    this.#wanted.delete(key);
    if (want) want(socket);
    else {
      this.#arrived.set(key, socket);
      socket.once('close', () => this.#arrived.delete(key));
    }
  }

  /** Calls `use` with the connection, once it is there. */
  take(stream: string, name: StreamName, use: (socket: Socket) => void): void {
    const key = `${stream} ${name}`;
    const socket = this.#arrived.get(key);
    this.#arrived.delete(key);
    if (socket) use(socket);
    else this.#wanted.set(key, use);
  }

  /** Resolves with the connection, once it is there. */
  taken(stream: string, name: StreamName): Promise<Socket> {
    return new Promise((resolve) => this.take(stream, name, resolve));
  }

  /** Closes what nobody took, and forgets those who wait. */
  drop(stream: string): void {
    for (const name of ['stdin', 'stdout', 'stderr', 'data']) {
      const key = `${stream} ${name}`;
      this.#arrived.get(key)?.destroy();
      this.#arrived.delete(key);
      this.#wanted.delete(key);
    }
  }
}
