/** The side of a daemon that replaces another one: it takes over the sockets of that one. */
import { Socket } from 'node:dgram';
import type { ListeningHandle, ListenOn } from '../../base/sockets/listening.ts';
import { sendBy } from '../dns/server/udp.ts';
import type { Door } from './calls.ts';
import type { Doors } from './doors.ts';
import type { Channel, ToHeir, ToPredecessor } from './handover.ts';

export class Heir {
  readonly #channel: Channel<ToPredecessor, ToHeir>;
  readonly #waiting: ((handle: ListeningHandle | undefined) => void)[] = [];
  #onDatagram: (message: ToHeir & { type: 'datagram' }) => void = () => undefined;
  #isAlone = false;

  /** Resolves with the heir when it knows the doors of the other one. */
  static open(channel: Channel<ToPredecessor, ToHeir>): Promise<{ heir: Heir; doors: readonly Door[] }> {
    return new Promise((resolve, reject) => {
      const heir = new Heir(channel, (doors) => resolve({ heir, doors }));
      channel.onEnd(() => reject(new Error('the daemon that is to be replaced has ended')));
    });
  }

  private constructor(channel: Channel<ToPredecessor, ToHeir>, onDoors: (doors: readonly Door[]) => void) {
    this.#channel = channel;
    channel.onMessage((message, handle) => {
      switch (message.type) {
        case 'doors':
          onDoors(message.doors);
          break;
        case 'door':
          this.#waiting.shift()?.(handle);
          break;
        case 'datagram':
          this.#onDatagram(message);
      }
    });
    channel.onEnd(() => {
      this.#isAlone = true;
      for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    });
  }

  /** Sends the remaining responses of the predecessor from the sockets that it handed over. */
  relay(doors: Doors): void {
    this.#onDatagram = ({ door, data, to }) => {
      const handle = doors.listening(door)?.handle;
      if (handle instanceof Socket) sendBy(handle, Buffer.from(data, 'base64'), to);
    };
  }

  /** The program can reach it at this socket. */
  ready(socket: string): void {
    this.#channel.send({ type: 'ready', socket });
  }

  /** The address itself when the other one has gone. */
  async take(door: Door): Promise<ListenOn> {
    if (this.#isAlone) return door;
    const handle = await new Promise<ListeningHandle | undefined>((resolve) => {
      this.#waiting.push(resolve);
      this.#channel.send({ type: 'take', door });
    });
    return handle ? { handle } : door;
  }

  complete(): void {
    this.#channel.send({ type: 'complete' });
  }
}
