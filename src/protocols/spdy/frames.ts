export const FrameType = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

export const Flag = { fin: 1, unidirectional: 2 } as const;

export const ResetCode = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  cancel: 5,
  internalError: 6,
  flowControlError: 7,
  streamInUse: 8,
  streamAlreadyClosed: 9,
} as const;

export const GoAwayCode = { ok: 0, protocolError: 1, internalError: 2 } as const;

export const INITIAL_WINDOW_SETTING = 7;
export const VERSION = 3;
export const HEAD_BYTES = 8;
export const MAX_ID = 0x7fffffff;

interface ControlFrame {
  readonly type: number;
  readonly flags?: number;
}

/** A control frame whose payload consists of 32-bit numbers and a block of bytes. */
function control({ type, flags = 0 }: ControlFrame, numbers: readonly number[], block?: Buffer): Buffer {
  const length = numbers.length * 4 + (block?.length ?? 0);
  const frame = Buffer.allocUnsafe(HEAD_BYTES + length);
  frame.writeUInt16BE(0x8000 | VERSION, 0);
  frame.writeUInt16BE(type, 2);
  frame[4] = flags;
  frame.writeUIntBE(length, 5, 3);
  let offset = HEAD_BYTES;
  for (const number of numbers) offset = frame.writeUInt32BE(number, offset);
  if (block) frame.set(block, offset);
  return frame;
}

export function synStream(stream: number, block: Buffer, flags = 0): Buffer {
  // The associated stream, then priority and slot, all 0; those two take 16 bits.
  return control({ type: FrameType.synStream, flags }, [stream, 0], Buffer.concat([Buffer.alloc(2), block]));
}

export function synReply(stream: number, block: Buffer, flags = 0): Buffer {
  return control({ type: FrameType.synReply, flags }, [stream], block);
}

export function rstStream(stream: number, code: number): Buffer {
  return control({ type: FrameType.rstStream }, [stream, code]);
}

export function initialWindow(bytes: number): Buffer {
  return control({ type: FrameType.settings }, [1, INITIAL_WINDOW_SETTING, bytes]);
}

export function ping(id: number): Buffer {
  return control({ type: FrameType.ping }, [id]);
}

export function goAway(lastStream: number, code: number): Buffer {
  return control({ type: FrameType.goAway }, [lastStream, code]);
}

export function windowUpdate(stream: number, bytes: number): Buffer {
  return control({ type: FrameType.windowUpdate }, [stream, bytes]);
}

/** The head of a data frame; its bytes follow. */
export function dataHead(stream: number, length: number, flags = 0): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32BE(stream, 0);
  head[4] = flags;
  head.writeUIntBE(length, 5, 3);
  return head;
}
