/** Reads the frames of a client: masked, possibly fragmented, in chunks of any size. */

export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A protocol violation by the client; the connection is closed with this code. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError';

  constructor(
    readonly closeCode: number,
    message: string,
  ) {
    super(message);
  }
}

export type ClientFrame =
  | {
      readonly kind: 'data';
      readonly bytes: Buffer;
      readonly isText: boolean;
      /** True for the first and for the last bytes of a message. */
      readonly isStart: boolean;
      readonly isEnd: boolean;
    }
  | { readonly kind: 'control'; readonly opcode: number; readonly bytes: Buffer };

const PROTOCOL_ERROR = 1002;
const MAX_CONTROL_BYTES = 125;

interface OpenFrame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly mask: Buffer;
  remaining: number;
  /** Position of the next byte in the mask. */
  offset: number;
  isFirstPiece: boolean;
}

export class ClientFrameParser {
  #rest: Buffer = Buffer.alloc(0);
  #frame: OpenFrame | undefined;
  /** Opcode of a message whose final frame has not arrived. */
  #messageOpcode: number | undefined;

  /** Parses a chunk. Throws a WebSocketError. */
  *push(chunk: Buffer): Generator<ClientFrame> {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      if (!this.#frame) {
        const head = readHead(bytes);
        if (!head) break;
        bytes = bytes.subarray(head.length);
        this.#frame = head.frame;
        this.#check(head.frame);
      }
      const frame = this.#frame;
      const isControl = frame.opcode >= Opcode.close;
      // Control frames are small, and passed on as a whole.
      if (isControl ? bytes.length < frame.remaining : bytes.length === 0 && frame.remaining > 0) break;
      const piece = unmask(bytes.subarray(0, frame.remaining), frame);
      bytes = bytes.subarray(piece.length);
      const isComplete = frame.remaining === 0;
      if (isComplete) this.#frame = undefined;
      if (isControl) yield { kind: 'control', opcode: frame.opcode, bytes: piece };
      else {
        yield {
          kind: 'data',
          bytes: piece,
          isText: this.#messageOpcode === Opcode.text,
          isStart: frame.isFirstPiece && frame.opcode !== Opcode.continuation,
          isEnd: isComplete && frame.isFinal,
        };
        if (isComplete && frame.isFinal) this.#messageOpcode = undefined;
      }
      frame.isFirstPiece = false;
    }
    this.#rest = bytes;
  }

  #check({ opcode, isFinal, remaining }: OpenFrame): void {
    if (opcode >= Opcode.close) {
      if (!isFinal || remaining > MAX_CONTROL_BYTES) throw new WebSocketError(PROTOCOL_ERROR, 'invalid control frame');
      if (opcode > Opcode.pong) throw new WebSocketError(PROTOCOL_ERROR, 'unknown opcode');
      return;
    }
    if (opcode > Opcode.binary) throw new WebSocketError(PROTOCOL_ERROR, 'unknown opcode');
    const continues = this.#messageOpcode !== undefined;
    if (continues !== (opcode === Opcode.continuation)) throw new WebSocketError(PROTOCOL_ERROR, 'invalid fragment');
    if (opcode !== Opcode.continuation) this.#messageOpcode = opcode;
  }
}

function readHead(bytes: Buffer): { frame: OpenFrame; length: number } | undefined {
  if (bytes.length < 2) return undefined;
  if ((bytes[0]! & 0x70) !== 0) throw new WebSocketError(PROTOCOL_ERROR, 'reserved bits are set');
  if ((bytes[1]! & 0x80) === 0) throw new WebSocketError(PROTOCOL_ERROR, 'a frame is not masked');
  const short = bytes[1]! & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const length = 2 + lengthBytes + 4;
  if (bytes.length < length) return undefined;
  const remaining = lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : long(bytes);
  const mask = Buffer.from(bytes.subarray(length - 4, length));
  const [isFinal, opcode] = [(bytes[0]! & 0x80) !== 0, bytes[0]! & 0x0f];
  return { frame: { opcode, isFinal, mask, remaining, offset: 0, isFirstPiece: true }, length };
}

function long(bytes: Buffer): number {
  const length = bytes.readBigUInt64BE(2);
  if (length > BigInt(Number.MAX_SAFE_INTEGER)) throw new WebSocketError(PROTOCOL_ERROR, 'a frame is too long');
  return Number(length);
}

/** Unmasks into new memory: the received chunk may be shared. */
function unmask(masked: Buffer, frame: OpenFrame): Buffer {
  const { mask } = frame;
  const bytes = Buffer.allocUnsafe(masked.length);
  for (let i = 0; i < masked.length; i++) bytes[i] = masked[i]! ^ mask[(frame.offset + i) & 3]!;
  frame.offset = (frame.offset + masked.length) & 3;
  frame.remaining -= masked.length;
  return bytes;
}
