/** Streams a file, and goes on where the connection broke. */
import { type ByteRange, TargetError } from '../../target.ts';
import { malformed } from './answers.ts';
import type { S3Client } from './client.ts';
import type { HttpResponse } from './http.ts';

/** Breaks of the connection without a byte in between. */
const MAX_BREAKS = 5;

export async function* download(
  client: S3Client,
  name: string,
  range: ByteRange | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let at = range?.from ?? 0;
  const until = range?.until;
  let etag: string | undefined;
  let breaks = 0;
  if (until !== undefined && until <= at) return void (await client.call({ method: 'HEAD', name, signal }));
  for (;;) {
    const piece = await open(client, { name, from: at, until, etag, signal });
    if (!piece) return;
    ({ etag } = piece);
    const end = at + piece.bytes;
    try {
      for await (const chunk of piece.response.body) {
        if (at + chunk.length > end) throw malformed(`${name} is longer than announced`);
        at += chunk.length;
        breaks = 0;
        yield chunk;
      }
      if (at === end) return;
    } catch (error) {
      if (error instanceof TargetError || breaks === MAX_BREAKS) throw broken(client, name, error);
    } finally {
      piece.response.destroy();
    }
    signal?.throwIfAborted();
    if (at === end) return;
    if (++breaks > MAX_BREAKS) throw broken(client, name, undefined);
    await client.pause(breaks, signal);
  }
}

interface PieceRequest {
  readonly name: string;
  readonly from: number;
  readonly until: number | undefined;
  /** Tag of the version that earlier pieces came from. */
  readonly etag: string | undefined;
  readonly signal: AbortSignal | undefined;
}

interface Piece {
  readonly response: HttpResponse;
  readonly bytes: number;
  readonly etag: string | undefined;
}

/** Returns undefined when the file ends before the piece. */
async function open(client: S3Client, { name, from, until, etag, signal }: PieceRequest): Promise<Piece | undefined> {
  const isPart = from > 0 || until !== undefined;
  const headers: Record<string, string> = {};
  if (isPart) headers.range = `bytes=${from}-${until === undefined ? '' : until - 1}`;
  if (etag) headers['if-match'] = etag;
  const call = { method: 'GET', name, headers, signal } as const;
  const response = await client.stream({ ...call, accepts: ['416', '412'] });
  if (!('body' in response)) {
    if (response.status === 416) return undefined;
    throw new TargetError('Unavailable', `${client.describe(call)}: the file was replaced while it was read`);
  }
  const bytes = Number(response.headers['content-length'] ?? Number.NaN);
  const isWrong = isPart && (response.status !== 206 || !startsAt(response.headers['content-range'], from));
  if (isWrong || !Number.isSafeInteger(bytes) || (until !== undefined && bytes > until - from)) {
    response.destroy();
    throw malformed(isWrong ? `${name} is not sent from byte ${from} on` : `${name} has no usable Content-Length`);
  }
  return { response, bytes, etag: response.headers.etag };
}

function startsAt(contentRange: string | undefined, from: number): boolean {
  return contentRange?.startsWith(`bytes ${from}-`) ?? false;
}

function broken(client: S3Client, name: string, cause: unknown): unknown {
  if (cause instanceof TargetError) return cause;
  const text = `${client.describe({ method: 'GET', name })}: the connection broke ${MAX_BREAKS} times`;
  return new TargetError('Unavailable', text, { cause });
}
