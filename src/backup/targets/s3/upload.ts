/** Uploads a file: in one request when it is small, otherwise in parts, of which one is in memory. */
import { createHash } from 'node:crypto';
import { escapeXml, tag } from '../../../protocols/aws/xml.ts';
import { TargetError } from '../../target.ts';
import { malformed, readUploadId } from './answers.ts';
import type { S3Client } from './client.ts';

const MIB = 1024 * 1024;
const PART_BYTES = 8 * MIB;
/** Parts become larger after some 32 GB: there can be 10,000. */
const SMALL_PARTS = 4000;
const LARGE_PART_BYTES = 64 * MIB;
const MAX_PARTS = 10_000;

interface Part {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  readonly sha256: string;
  readonly isLast: boolean;
}

interface StoredPart {
  readonly number: number;
  readonly etag: string;
}

export async function upload(
  client: S3Client,
  name: string,
  content: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  let running: RunningUpload | undefined;
  try {
    for await (const { chunks, bytes, sha256, isLast } of partsOf(content, signal)) {
      if (isLast && !running) {
        await client.call({ method: 'PUT', name, body: chunks, sha256, signal });
        return;
      }
      running ??= await RunningUpload.start(client, name, signal);
      // The last part may be empty: it only ends the sequence.
      if (bytes > 0) await running.add(chunks, bytes, sha256);
    }
    await running?.complete();
  } catch (error) {
    await running?.abort();
    throw error;
  }
}

class RunningUpload {
  readonly #parts: StoredPart[] = [];
  #bytes = 0;

  private constructor(
    private readonly client: S3Client,
    private readonly name: string,
    private readonly id: string,
    private readonly signal: AbortSignal | undefined,
  ) {}

  static async start(client: S3Client, name: string, signal: AbortSignal | undefined): Promise<RunningUpload> {
    const { text } = await client.call({ method: 'POST', name, query: { uploads: '' }, signal });
    return new RunningUpload(client, name, readUploadId(text), signal);
  }

  async add(body: readonly Uint8Array[], bytes: number, sha256: string): Promise<void> {
    const number = this.#parts.length + 1;
    const query = { partNumber: String(number), uploadId: this.id };
    const { headers } = await this.client.call({
      method: 'PUT',
      name: this.name,
      query,
      body,
      sha256,
      signal: this.signal,
    });
    if (!headers.etag) throw malformed(`part ${number} of an upload has no ETag`);
    this.#parts.push({ number, etag: headers.etag });
    this.#bytes += bytes;
  }

  async complete(): Promise<void> {
    const parts = this.#parts.map(({ number, etag }) =>
      tag('Part', tag('PartNumber', String(number)) + tag('ETag', escapeXml(etag))),
    );
    const body = [Buffer.from(tag('CompleteMultipartUpload', parts.join('')))];
    const call = { method: 'POST', name: this.name, query: { uploadId: this.id }, body, signal: this.signal } as const;
    const { code } = await this.client.call({ ...call, accepts: ['NoSuchUpload'] });
    // An earlier attempt may have completed it without an answer.
    if (code === 'NoSuchUpload' && !(await this.#isStored())) {
      throw new TargetError('Unavailable', `${this.client.describe(call)}: the upload was aborted by someone else`);
    }
  }

  async #isStored(): Promise<boolean> {
    const { status, headers } = await this.client.call({
      method: 'HEAD',
      name: this.name,
      accepts: ['404'],
      signal: this.signal,
    });
    return (
      status === 200 && Number(headers['content-length']) === this.#bytes && hasParts(headers.etag, this.#parts.length)
    );
  }

  /** Removes the parts. What is left when it fails is for `tidy`. */
  async abort(): Promise<void> {
    await this.client
      .call({ method: 'DELETE', name: this.name, query: { uploadId: this.id }, accepts: ['404', '500', '503'] })
      .catch(() => {});
  }
}

/** Reports whether an ETag is that of an upload in so many parts: `"HASH-PARTS"`. */
function hasParts(etag: string | undefined, parts: number): boolean {
  const found = /-(\d+)"?$/.exec(etag ?? '')?.[1];
  return found === undefined || Number(found) === parts;
}

/** Divides content into parts. The last one has what is left, which may be nothing. */
async function* partsOf(content: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Part> {
  let parts = 0;
  let collected = new PartCollector();
  for await (const chunk of content) {
    signal?.throwIfAborted();
    let rest = chunk;
    const limit = () => (parts < SMALL_PARTS ? PART_BYTES : LARGE_PART_BYTES);
    while (collected.bytes + rest.length > limit()) {
      const room = limit() - collected.bytes;
      collected.add(rest.subarray(0, room));
      rest = rest.subarray(room);
      if (++parts === MAX_PARTS) throw new TargetError('Full', `a file in S3 has at most ${MAX_PARTS} parts`);
      yield collected.part(false);
      collected = new PartCollector();
    }
    collected.add(rest);
  }
  signal?.throwIfAborted();
  yield collected.part(true);
}

/** Copies chunks, which their source may use again, and hashes them as they come: a whole part at once would take long. */
class PartCollector {
  bytes = 0;
  readonly #chunks: Uint8Array[] = [];
  readonly #hash = createHash('sha256');

  add(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(Buffer.from(chunk));
    this.#hash.update(chunk);
    this.bytes += chunk.length;
  }

  part(isLast: boolean): Part {
    return { chunks: this.#chunks, bytes: this.bytes, sha256: this.#hash.digest('hex'), isLast };
  }
}
