import type { Duplex } from 'node:stream';
import { eachChunk, eachInTurn } from '../../base/bytes/each-chunk.ts';
import { type ClientFrame, ClientFrameParser, Opcode, WebSocketError } from './frame-parser.ts';

export type DataPiece = Extract<ClientFrame, { readonly kind: 'data' }>;

export interface WebSocketOptions {
  /** Called for each piece of a message. Reading pauses until the returned promise is settled. */
  onData(piece: DataPiece): Promise<void> | undefined;
}

const NORMAL_CLOSURE = 1000;
const INTERNAL_ERROR = 1011;
/** Limit for unsent pongs: the client may not read them. */
const MAX_UNREAD_PONG_BYTES = 64 * 1024;

/** The server side of a WebSocket, after the handshake. It owns the socket. */
export class WebSocketConnection {
  /** Resolves when the connection is closed, with the error that closed it. */
  readonly closed: Promise<Error | undefined>;
  #waitingForDrain: (() => void)[] = [];
  #unreadPongBytes = 0;
  #isClosing = false;
  /** True after a part of a message that does not end it. */
  #isInMessage = false;

  constructor(
    private readonly socket: Duplex,
    private readonly options: WebSocketOptions,
  ) {
    socket.on('drain', () => this.#onDrain());
    socket.on('error', () => undefined);
    this.closed = this.#run();
  }

  /** Sends a message that consists of these parts. Calls back when more may be sent. */
  send(parts: readonly Buffer[], { isText = false, done }: { isText?: boolean; done?: () => void } = {}): void {
    if (!this.#isClosing && this.socket.writable) {
      this.socket.cork();
      this.socket.write(
        frameHead(
          isText ? Opcode.text : Opcode.binary,
          parts.reduce((sum, { length }) => sum + length, 0),
        ),
      );
      for (const part of parts) this.socket.write(part);
      this.socket.uncork();
    }
    if (!done) return;
    if (this.socket.writableNeedDrain && !this.socket.destroyed) this.#waitingForDrain.push(done);
    else done();
  }

  /** Sends a part of a text message. Calls back when it has left this process, with an error if it never will. */
  sendText(part: Buffer, isLast: boolean, sent: (error?: Error | null) => void): void {
    if (this.#isClosing || !this.socket.writable) {
      sent(new Error('the WebSocket is closed'));
      return;
    }
    this.socket.cork();
    this.socket.write(frameHead(this.#isInMessage ? Opcode.continuation : Opcode.text, part.length, isLast));
    this.socket.write(part, sent);
    this.socket.uncork();
    this.#isInMessage = !isLast;
  }

  /** Sends a close frame, and ends the connection when everything was sent. */
  close(code = NORMAL_CLOSURE, reason = ''): void {
    if (this.#isClosing) return;
    const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
    payload.writeUInt16BE(code);
    payload.write(reason, 2);
    this.#sendControl(Opcode.close, payload);
    this.#isClosing = true;
    this.socket.end();
  }

  destroy(): void {
    this.#isClosing = true;
    this.socket.destroy();
  }

  /** Handles one frame after the other until the connection ends. Never rejects. */
  async #run(): Promise<Error | undefined> {
    const parser = new ClientFrameParser();
    const failure = await eachChunk(this.socket, (chunk) =>
      eachInTurn(parser.push(chunk), (frame) => (frame.kind === 'data' ? this.#onData(frame) : this.#onControl(frame))),
    );
    if (failure) this.close(failure instanceof WebSocketError ? failure.closeCode : INTERNAL_ERROR);
    this.#end(failure);
    return failure;
  }

  #onData(piece: DataPiece): Promise<void> | undefined {
    return this.#isClosing ? undefined : this.options.onData(piece);
  }

  #onControl({ opcode, bytes }: Extract<ClientFrame, { kind: 'control' }>): undefined {
    if (opcode === Opcode.close) this.close(bytes.length >= 2 ? bytes.readUInt16BE() : NORMAL_CLOSURE);
    else if (opcode === Opcode.ping && !this.#isClosing) {
      if (this.socket.writableNeedDrain) this.#unreadPongBytes += bytes.length + 2;
      if (this.#unreadPongBytes > MAX_UNREAD_PONG_BYTES) throw new WebSocketError(1008, 'the client does not read');
      this.#sendControl(Opcode.pong, bytes);
    }
  }

  #sendControl(opcode: number, payload: Buffer): void {
    if (this.socket.writable) this.socket.write(Buffer.concat([frameHead(opcode, payload.length), payload]));
  }

  #end(failure: Error | undefined): void {
    this.#isClosing = true;
    this.#onDrain();
    if (failure instanceof WebSocketError) this.socket.end(() => this.socket.destroy());
    else this.socket.destroy();
  }

  #onDrain(): void {
    this.#unreadPongBytes = 0;
    const waiting = this.#waitingForDrain;
    this.#waitingForDrain = [];
    for (const done of waiting) done();
  }
}

function frameHead(opcode: number, length: number, isLast = true): Buffer {
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.allocUnsafe(2 + lengthBytes);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  if (lengthBytes === 0) head[1] = length;
  else if (lengthBytes === 2) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return head;
}
