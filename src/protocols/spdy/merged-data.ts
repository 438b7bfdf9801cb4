import { free, makeMovable } from '../../base/bytes/shared-buffer.ts';
import type { DataPiece, Frame, FrameParser } from './frame-parser.ts';

/** Minimum size for merging: smaller chunks are not worth it. */
const MIN_MERGED_BYTES = 16 * 1024;

/**
 * Parses a chunk that was read from a connection, and joins consecutive data of a stream in memory that can be moved to
 * another thread. Frees the memory of the chunk: V8 counts everything that is read, and would collect garbage for every
 * few megabytes that pass.
 */
export function* mergedData(parser: FrameParser, chunk: Buffer): Generator<Frame> {
  if (chunk.length < MIN_MERGED_BYTES || chunk.length !== chunk.buffer.byteLength) {
    yield* parser.push(chunk);
    return;
  }
  let pieces: DataPiece[] = [];
  for (const frame of parser.push(chunk)) {
    if (pieces.length > 0 && (frame.kind === 'control' || frame.stream !== pieces[0]!.stream)) {
      yield merge(pieces);
      pieces = [];
    }
    if (frame.kind === 'control') yield frame;
    else pieces.push(frame);
  }
  if (pieces.length > 0) yield merge(pieces);
  if (!parser.hasRest) free(makeMovable(chunk));
}

function merge(pieces: readonly DataPiece[]): DataPiece {
  const { stream } = pieces[0]!;
  const bytes = makeMovable(Buffer.concat(pieces.map((piece) => piece.bytes)));
  return { kind: 'data', stream, bytes, isLast: pieces.some(({ isLast }) => isLast) };
}
