import type { Socket } from 'node:net';
import { DEFAULT_FRAME_SIZE, DEFAULT_WINDOW, Flag, FrameType, HEAD, writeHead } from './frames.ts';

/** The sending side of a stream. */
export interface Body {
  readonly id: number;
  /** Bytes that the peer accepts on this stream. */
  window: number;
  readonly waiting: Buffer[];
  /** True when the stream ends after the waiting data. */
  isComplete: boolean;
}

/**
 * Sends frames. The frames of one turn of the event loop are sent in one write: system calls, and the peer's reads,
 * cost more than copying. Data respects the peer's flow-control windows.
 */
export class Outgoing {
  /** Bytes that the peer accepts on all streams together. */
  window = DEFAULT_WINDOW;
  frameSize = DEFAULT_FRAME_SIZE;
  #frames: Buffer[] = [];
  readonly #blocked = new Set<Body>();

  constructor(private readonly socket: Socket) {}

  write(bytes: Buffer): void {
    if (this.#frames.push(bytes) === 1) setImmediate(() => this.flush());
  }

  flush(): void {
    const frames = this.#frames;
    if (frames.length === 0) return;
    this.#frames = [];
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames));
  }

  /** Sends data as far as the windows allow; the rest follows when they open. */
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

  /** Sends more after a window has opened. */
  resume(): void {
    for (const body of this.#blocked) this.send(body);
  }

  drop(body: Body): void {
    body.waiting.length = 0;
    this.#blocked.delete(body);
  }

  /** Sends data, and returns the number of bytes that fit the windows. */
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
