import { SpdyError } from './errors.ts';
import { Flag, HEAD_BYTES, VERSION } from './frames.ts';

/** A whole control frame, or a piece of a data frame. */
export type Frame = ControlFrame | DataPiece;

export interface ControlFrame {
  readonly kind: 'control';
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

/** A piece of a data frame. Pieces are passed on as they arrive, so that a large frame is never held as a whole. */
export interface DataPiece {
  readonly kind: 'data';
  readonly stream: number;
  readonly bytes: Buffer;
  /** True when these are the stream's last bytes. */
  readonly isLast: boolean;
}

interface OpenDataFrame {
  readonly stream: number;
  remaining: number;
  readonly hasFin: boolean;
}

/** Limit for a control frame; those of Kubernetes are below one. */
const MAX_CONTROL_BYTES = 64 * 1024;

export class FrameParser {
  /** Bytes that do not make a frame yet. They are joined once there are enough of them, not with every chunk. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  #neededBytes = HEAD_BYTES;
  /** The data frame whose bytes are being read. */
  #data: OpenDataFrame | undefined;

  /** True when incomplete bytes are buffered. */
  get hasRest(): boolean {
    return this.#restBytes > 0;
  }

  /** Parses a chunk. Throws a SpdyError at the first frame that is not one of SPDY/3.1. */
  *push(chunk: Buffer): Generator<Frame> {
    this.#rest.push(chunk);
    this.#restBytes += chunk.length;
    if (!this.#data && this.#restBytes < this.#neededBytes) return;
    let bytes = this.#rest.length === 1 ? chunk : Buffer.concat(this.#rest);
    this.#neededBytes = HEAD_BYTES;
    for (;;) {
      if (this.#data) {
        if (bytes.length === 0) break;
        const piece = bytes.subarray(0, this.#data.remaining);
        bytes = bytes.subarray(piece.length);
        yield this.#dataPiece(this.#data, piece);
        continue;
      }
      if (bytes.length < HEAD_BYTES) break;
      const length = bytes.readUIntBE(5, 3);
      if ((bytes[0]! & 0x80) === 0) {
        this.#data = { stream: bytes.readUInt32BE(0), remaining: length, hasFin: (bytes[4]! & Flag.fin) !== 0 };
        bytes = bytes.subarray(HEAD_BYTES);
        if (length === 0) yield this.#dataPiece(this.#data, bytes.subarray(0, 0));
        continue;
      }
      checkControl(bytes, length);
      const end = HEAD_BYTES + length;
      if (bytes.length < end) {
        this.#neededBytes = end;
        break;
      }
      const [type, flags] = [bytes.readUInt16BE(2), bytes[4]!];
      const payload = bytes.subarray(HEAD_BYTES, end);
      bytes = bytes.subarray(end);
      yield { kind: 'control', type, flags, payload };
    }
    this.#rest = bytes.length === 0 ? [] : [bytes];
    this.#restBytes = bytes.length;
  }

  #dataPiece(data: OpenDataFrame, bytes: Buffer): DataPiece {
    data.remaining -= bytes.length;
    const isComplete = data.remaining === 0;
    if (isComplete) this.#data = undefined;
    return { kind: 'data', stream: data.stream, bytes, isLast: isComplete && data.hasFin };
  }
}

function checkControl(bytes: Buffer, length: number): void {
  const version = bytes.readUInt16BE(0) & 0x7fff;
  if (version !== VERSION) throw new SpdyError(`a frame has version ${version}`);
  if (length > MAX_CONTROL_BYTES) throw new SpdyError(`a control frame has ${length} bytes`);
}
