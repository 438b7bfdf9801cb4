import type { Headers } from './hpack.ts';
import type { Stream, StreamHandler } from './session.ts';
import { GrpcError, GrpcStatus, statusOfHttp } from './status.ts';

export interface Method<Request, Response> {
  /** `/package.Service/Method`. */
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
  /** Called once, at the end; undefined: the call succeeded. */
  ended(error: GrpcError | undefined): void;
}

const PREFIX = 5;

/** A length-prefixed message: compression flag, length, bytes. */
export function prefixed(message: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX);
  return bytes;
}

/** Turns the data of a stream into messages and a status. */
export class Call<Response> implements StreamHandler {
  readonly #method: Pick<Method<never, Response>, 'decode'>;
  readonly #handler: CallHandler<Response>;
  /** The incomplete message so far. */
  #parts: Buffer[] = [];
  #length = 0;
  #isOver = false;
  stream: Stream | undefined;

  constructor(method: Pick<Method<never, Response>, 'decode'>, handler: CallHandler<Response>) {
    this.#method = method;
    this.#handler = handler;
  }

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
    this.#parts.push(payload);
    this.#length += payload.length;
    try {
      this.#messages();
    } catch (error) {
      this.#end(new GrpcError(GrpcStatus.INTERNAL, 'a message cannot be read', { cause: error }));
    }
    if (last) this.#end(noStatus());
  }

  failed(error: GrpcError): void {
    this.#end(error);
  }

  #messages(): void {
    while (this.#length >= PREFIX && !this.#isOver) {
      const head = this.#parts[0]!.length >= PREFIX ? this.#parts[0]! : this.#joined();
      if (head[0] !== 0) throw new Error('it is compressed');
      const end = PREFIX + head.readUInt32BE(1);
      if (this.#length < end) return;
      const bytes = this.#joined();
      this.#parts = bytes.length > end ? [bytes.subarray(end)] : [];
      this.#length -= end;
      this.#handler.message(this.#method.decode(bytes.subarray(PREFIX, end)));
    }
  }

  #joined(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0]!;
  }

  #end(error: GrpcError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.stream?.cancel();
    this.#handler.ended(error);
  }
}

function isGrpc(headers: Headers): boolean {
  return headers.get(':status') === '200' && headers.get('content-type')?.startsWith('application/grpc') === true;
}

function otherStatus(status: string | undefined): GrpcError {
  return new GrpcError(statusOfHttp(status), `the answer is not gRPC's; its HTTP status is ${status}`);
}

function noStatus(): GrpcError {
  return new GrpcError(GrpcStatus.INTERNAL, 'the answer has no status');
}

function statusOf(trailers: Headers): GrpcError | undefined {
  const code = Number(trailers.get('grpc-status'));
  if (code === GrpcStatus.OK) return undefined;
  return new GrpcError(Number.isInteger(code) ? code : GrpcStatus.UNKNOWN, words(trailers.get('grpc-message') ?? ''));
}

/** Messages are percent-encoded. */
function words(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
