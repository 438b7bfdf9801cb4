/** HTTP/2 frames (RFC 9113): types, flags and error codes, encoding, and splitting received bytes into frames. */

export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

export const Flag = { ACK: 0x1, END_STREAM: 0x1, END_HEADERS: 0x4, PADDED: 0x8, PRIORITY: 0x20 } as const;

export const Setting = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
} as const;

export const ErrorCode = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
} as const;

/** The connection preface of a client. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Initial window of both sides, which we keep. */
export const DEFAULT_WINDOW = 65_535;
export const DEFAULT_FRAME_SIZE = 16_384;

export const LARGEST_WINDOW = 2 ** 31 - 1;
/** A length has 24 bits. */
export const LARGEST_FRAME = 2 ** 24 - 1;

/** The length of a frame header, and the offset of the stream id in it. */
export const HEAD = 9;
export const STREAM_AT = 5;

/** A protocol violation by the peer: the connection must be closed. */
export class Http2Error extends Error {
  override readonly name = 'Http2Error';
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

interface FrameHead {
  readonly type: number;
  readonly flags?: number;
  readonly stream?: number;
}

/** Writes the header of a frame with a payload of this length. */
export function writeHead(to: Buffer, { type, flags = 0, stream = 0 }: FrameHead, length: number): void {
  to.writeUIntBE(length, 0, 3);
  to[3] = type;
  to[4] = flags;
  to.writeUInt32BE(stream, STREAM_AT);
}

export function frame(head: FrameHead, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD + payload.length);
  writeHead(bytes, head, payload.length);
  bytes.set(payload, HEAD);
  return bytes;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function settingsPayload(settings: readonly (readonly [setting: number, value: number])[]): Buffer {
  const bytes = Buffer.allocUnsafe(settings.length * 6);
  for (const [index, [setting, value]] of settings.entries()) {
    bytes.writeUInt16BE(setting, index * 6);
    bytes.writeUInt32BE(value, index * 6 + 2);
  }
  return bytes;
}

export function readSettings(payload: Buffer): (readonly [setting: number, value: number])[] {
  if (payload.length % 6 !== 0) throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, 'settings are cut off');
  return Array.from({ length: payload.length / 6 }, (_, index) => [
    payload.readUInt16BE(index * 6),
    payload.readUInt32BE(index * 6 + 2),
  ]);
}

/** Strips padding and priority from the payload of DATA or HEADERS. */
export function unpadded(payload: Buffer, flags: number): Buffer {
  let start = 0;
  let end = payload.length;
  if (flags & Flag.PADDED) {
    end -= payload[0] ?? 0;
    start = 1;
  }
  if (flags & Flag.PRIORITY) start += 5;
  if (start > end) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'a frame has more padding than payload');
  return start === 0 && end === payload.length ? payload : payload.subarray(start, end);
}

export interface FrameTaker {
  frame(type: number, flags: number, stream: number, payload: Buffer): void;
}

/** Splits received bytes into frames. Payloads share the memory of the received chunk. */
export class FrameSplitter {
  #rest: Buffer | undefined;

  push(chunk: Buffer, taker: FrameTaker): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    let at = 0;
    while (bytes.length - at >= HEAD) {
      const length = bytes.readUIntBE(at, 3);
      if (length > DEFAULT_FRAME_SIZE) throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, 'a frame is too long');
      const end = at + HEAD + length;
      if (end > bytes.length) break;
      const stream = bytes.readUInt32BE(at + STREAM_AT) & 0x7fffffff;
      taker.frame(bytes[at + 3] as number, bytes[at + 4] as number, stream, bytes.subarray(at + HEAD, end));
      at = end;
    }
    this.#rest = at < bytes.length ? bytes.subarray(at) : undefined;
  }
}
