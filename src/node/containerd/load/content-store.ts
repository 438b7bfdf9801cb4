import type { GrpcError } from '../../../protocols/grpc/status.ts';
import { GrpcStatus } from '../../../protocols/grpc/status.ts';
import type { Decoded } from '../../../protocols/protobuf/message.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Connection } from '../calls/connection.ts';
import { runtimeError } from '../calls/errors.ts';
import { containerdApi, underLease } from '../calls/methods.ts';
import type { WriteResponse } from '../messages/containerd.ts';

export interface Blob {
  readonly digest: string;
  readonly size: number;
}

interface BlobInput {
  /** Names the write; two writes at a time under one lease have different names. */
  readonly ref: string;
  readonly size: number;
  /** Digest, which containerd checks; undefined: containerd computes it. */
  readonly digest: string | undefined;
  /** Labels that keep other blobs alive as long as this one. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly content: AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** containerd accepts messages up to 16 MB. */
const CHUNK_BYTES = 2 ** 20;

const ALREADY_EXISTS = /(?:content|blob with expected digest) (sha256:[0-9a-f]{64})(?:: already)? exists/;

type Response = Decoded<typeof WriteResponse>;

/** Writes blobs into containerd's content store. They are garbage after the lease ends, unless something refers to them. */
export class ContentStore {
  constructor(
    private readonly connection: Connection,
    private readonly lease: string,
  ) {}

  /** A blob that is there already is not written again. */
  async write({ ref: name, size, digest, labels, content }: BlobInput): Promise<Blob> {
    const ref = `${this.lease}/${name}`;
    const known = digest === undefined ? undefined : await this.#find(digest);
    if (known !== undefined && digest !== undefined) {
      if (labels) await this.label(digest, labels);
      return known;
    }
    const exchange = await Exchange.open(this.connection, this.lease);
    try {
      let offset = 0;
      for await (const chunk of chunked(content)) {
        await exchange.send({ action: 'write', ref, total: size, expected: digest, offset, data: chunk });
        offset += chunk.length;
      }
      if (offset !== size) throw new RuntimeError('Unknown', `${name} has ${offset} bytes instead of ${size}`);
      const response = await exchange.send({ action: 'commit', ref, total: size, expected: digest, offset, labels });
      return { digest: response.digest, size };
    } catch (error) {
      // Without the digest, only containerd knows that it has this blob already; with it, another program may have been faster.
      const existing = ALREADY_EXISTS.exec(String(error))?.[1];
      if (!existing) throw error;
      if (labels) await this.label(existing, labels);
      return { digest: existing, size };
    } finally {
      exchange.close();
    }
  }

  async #find(digest: string): Promise<Blob | undefined> {
    const request = { digest };
    const response = await this.connection.call(containerdApi.contentInfo, request).catch((error: RuntimeError) => {
      if (error.code !== 'NotFound') throw error;
    });
    return response?.info && { digest, size: response.info.size };
  }

  /** Adds labels to a blob that is there. */
  async label(digest: string, labels: Readonly<Record<string, string>>): Promise<void> {
    if (Object.keys(labels).length === 0) return;
    const mask = { paths: Object.keys(labels).map((name) => `labels.${name}`) };
    await this.connection.call(containerdApi.updateContent, { info: { digest, labels }, mask });
  }
}

/** Requests and responses by turns on one stream. */
class Exchange {
  #settle: { resolve(response: Response): void; reject(error: RuntimeError): void } | undefined;
  #end: RuntimeError | undefined;

  private constructor(private readonly stream: { send(request: WriteInput): void; cancel(): void }) {}

  static async open(connection: Connection, lease: string): Promise<Exchange> {
    const stream = await connection.stream(underLease(containerdApi.writeContent, lease), {
      message: (response) => exchange.#settle?.resolve(response),
      ended: (error) => exchange.#ended(error),
    });
    const exchange = new Exchange(stream);
    return exchange;
  }

  send(request: WriteInput): Promise<Response> {
    return new Promise((resolve, reject) => {
      if (this.#end) {
        reject(this.#end);
        return;
      }
      this.#settle = { resolve, reject };
      this.stream.send(request);
    });
  }

  close(): void {
    this.stream.cancel();
  }

  #ended(error: GrpcError | undefined): void {
    const isDamaged =
      error?.code === GrpcStatus.INVALID_ARGUMENT || /unexpected commit digest/.test(error?.message ?? '');
    this.#end = error
      ? isDamaged
        ? new RuntimeError('Unknown', `the archive is damaged: ${error.message}`, { cause: error })
        : runtimeError(error)
      : new RuntimeError('Unavailable', 'containerd ended the write');
    this.#settle?.reject(this.#end);
  }
}

type WriteInput = Parameters<(typeof containerdApi.writeContent)['encode']>[0];

async function* chunked(content: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const part of content) {
    parts.push(part);
    length += part.length;
    if (length < CHUNK_BYTES) continue;
    const joined = Buffer.concat(parts);
    for (let at = 0; at < joined.length; at += CHUNK_BYTES) yield joined.subarray(at, at + CHUNK_BYTES);
    parts = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(parts);
}
