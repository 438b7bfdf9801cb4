import type { Socket } from 'node:net';
import { DEFAULT_FRAME_SIZE, DEFAULT_WINDOW, Flag, FrameType, HEAD, writeHead } from './frames.ts';

/** The part of a stream that is on its way out. */
export interface Body {
  readonly id: number;
  /** How much the peer still takes of it. */
  window: number;
  /** What has not been sent. */
  readonly waiting: Buffer[];
  /** Whether nothing follows after what waits. */
  isComplete: boolean;
}

/**
 * What is sent. Frames of one turn of the event loop leave in one write: system calls, and the peer's reads, cost more than
 * copying. Bodies keep to the peer's windows, and wait where these are used up.
 */
export class Outgoing {
  readonly #socket: Socket;
  /** How much the peer still takes, of all streams together. */
  window = DEFAULT_WINDOW;
  frameSize = DEFAULT_FRAME_SIZE;
  #frames: Buffer[] = [];
  readonly #blocked = new Set<Body>();

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  write(bytes: Buffer): void {
    if (this.#frames.push(bytes) === 1) setImmediate(() => this.flush());
  }

  flush(): void {
    const frames = this.#frames;
    if (frames.length === 0) return;
    this.#frames = [];
    if (!this.#socket.destroyed) this.#socket.write(Buffer.concat(frames));
  }

  /** Sends what waits of a body, as far as windows allow; the rest follows when they open. */
  send(body: Body): void {
    const { waiting } = body;
    for (let bytes = waiting.shift(); bytes; bytes = waiting.shift()) {
      const sent = this.#data(body, bytes, body.isComplete && waiting.length === 0);
      if (sent === bytes.length) continue;
      waiting.unshift(bytes.subarray(sent));
      this.#blocked.add(body);
      return;
    }
    this.#blocked.delete(body);
  }

  /** A window has opened. */
  resume(): void {
    for (const body of this.#blocked) this.send(body);
  }

  drop(body: Body): void {
    body.waiting.length = 0;
    this.#blocked.delete(body);
  }

  /** How many of the bytes were sent. */
  #data(body: Body, bytes: Buffer, last: boolean): number {
    let at = 0;
    do {
      const length = Math.min(bytes.length - at, body.window, this.window, this.frameSize);
      if (length <= 0 && bytes.length > 0) return at;
      const head = Buffer.allocUnsafe(HEAD);
      const flags = last && at + length === bytes.length ? Flag.END_STREAM : 0;
      writeHead(head, { type: FrameType.DATA, flags, stream: body.id }, length);
      this.write(head);
      this.write(length === bytes.length ? bytes : bytes.subarray(at, at + length));
      body.window -= length;
      this.window -= length;
      at += length;
    } while (at < bytes.length);
    return at;
  }
}
