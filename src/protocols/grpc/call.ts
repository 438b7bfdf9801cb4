import type { Headers } from './hpack.ts';
import type { Stream, StreamHandler } from './session.ts';
import { GrpcError, GrpcStatus, statusOfHttp } from './status.ts';

export interface Method<Request, Response> {
  /** The path of the method: `/package.Service/Method`. */
  readonly path: string;
  /** Additional headers. */
  readonly metadata?: Readonly<Record<string, string>>;
  encode(request: Request): Buffer;
  decode(message: Buffer): Response;
}

/** Describes methods of a service by their names and messages. */
export const methodsOf =
  (service: string) =>
  <Request, Response>(
    name: string,
    request: Pick<Method<Request, unknown>, 'encode'>,
    response: Pick<Method<never, Response>, 'decode'>,
  ): Method<Request, Response> => ({
    path: `/${service}/${name}`,
    encode: request.encode,
    decode: response.decode,
  });

export interface CallHandler<Response> {
  message(response: Response): void;
  /** Called once, at the end; undefined when the call succeeded. */
  ended(error: GrpcError | undefined): void;
}

const PREFIX = 5;
/** Default limit for received messages; that of other gRPC clients. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Frames a message: compression flag, length, bytes. */
export function prefixed(message: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX);
  return bytes;
}

const NOTHING = Buffer.alloc(0);

/** Turns the data of a stream into messages and a status. */
export class Call<Response> implements StreamHandler {
  /** The prefix of the next message while it is incomplete. */
  #prefix: Buffer = NOTHING;
  /** A message that spans several frames, and its received bytes. Keeping small frames would take much memory. */
  #large: Buffer | undefined;
  #filled = 0;
  #isOver = false;
  stream: Stream | undefined;

  constructor(
    private readonly method: Pick<Method<never, Response>, 'decode'>,
    private readonly handler: CallHandler<Response>,
    private readonly maxMessageBytes: number = MAX_MESSAGE_BYTES,
  ) {}

  cancel(): void {
    this.#isOver = true;
    this.stream?.cancel();
  }

  headers(headers: Headers, last: boolean): void {
    if (headers.has('grpc-status')) this.#end(statusOf(headers));
    else if (!isGrpc(headers)) this.#end(otherStatus(headers.get(':status')));
    else if (last) this.#end(noStatus());
  }

  data(payload: Buffer, last: boolean): void {
    try {
      this.#take(payload);
    } catch (error) {
      const unread = new GrpcError(GrpcStatus.INTERNAL, 'a message cannot be read', { cause: error });
      this.#end(error instanceof GrpcError ? error : unread);
    }
    if (last) this.#end(noStatus());
  }

  failed(error: GrpcError): void {
    this.#end(error);
  }

  #take(payload: Buffer): void {
    for (let rest = payload; rest.length > 0 && !this.#isOver; ) {
      const message = this.#large ? this.#fill(rest) : this.#begin(rest);
      if (!message) return;
      rest = message.rest;
      this.handler.message(this.method.decode(message.bytes));
    }
  }

  /** Starts the next message, and returns it with the bytes after it; undefined when it is incomplete. */
  #begin(payload: Buffer): { readonly bytes: Buffer; readonly rest: Buffer } | undefined {
    const bytes = this.#prefix.length > 0 ? Buffer.concat([this.#prefix, payload]) : payload;
    this.#prefix = NOTHING;
    if (bytes.length < PREFIX) {
      this.#prefix = bytes;
      return undefined;
    }
    if (bytes[0] !== 0) throw new Error('it is compressed');
    const length = bytes.readUInt32BE(1);
    if (length > this.maxMessageBytes) throw tooLarge(length, this.maxMessageBytes);
    const end = PREFIX + length;
    if (bytes.length >= end) return { bytes: bytes.subarray(PREFIX, end), rest: bytes.subarray(end) };
    this.#large = Buffer.allocUnsafe(length);
    this.#filled = bytes.copy(this.#large, 0, PREFIX);
    return undefined;
  }

  #fill(payload: Buffer): { readonly bytes: Buffer; readonly rest: Buffer } | undefined {
    const bytes = this.#large!;
    const copied = payload.copy(bytes, this.#filled);
    this.#filled += copied;
    if (this.#filled < bytes.length) return undefined;
    this.#large = undefined;
    return { bytes, rest: payload.subarray(copied) };
  }

  #end(error: GrpcError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.stream?.cancel();
    this.handler.ended(error);
  }
}

function isGrpc(headers: Headers): boolean {
  return headers.get(':status') === '200' && headers.get('content-type')?.startsWith('application/grpc') === true;
}

function otherStatus(status: string | undefined): GrpcError {
  return new GrpcError(statusOfHttp(status), `the answer is not gRPC's; its HTTP status is ${status}`);
}

function tooLarge(length: number, max: number): GrpcError {
  return new GrpcError(GrpcStatus.RESOURCE_EXHAUSTED, `received message larger than max (${length} vs. ${max})`);
}

function noStatus(): GrpcError {
  return new GrpcError(GrpcStatus.INTERNAL, 'the answer has no status');
}

function statusOf(trailers: Headers): GrpcError | undefined {
  const code = Number(trailers.get('grpc-status'));
  if (code === GrpcStatus.OK) return undefined;
  return new GrpcError(Number.isInteger(code) ? code : GrpcStatus.UNKNOWN, words(trailers.get('grpc-message') ?? ''));
}

/** Decodes a status message, which is percent-encoded. */
function words(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
