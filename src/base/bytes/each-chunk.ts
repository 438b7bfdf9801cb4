import type { Readable } from 'node:stream';

/**
 * Calls the listener for each chunk of a stream in order, and pauses the stream until the promise that the listener
 * returned is settled. Unlike an iterator it neither joins chunks nor waits for a turn between them. Resolves when the
 * stream has ended; rejects with its error, or with the error of the listener. When a stream is closed early, a pending
 * listener is not awaited: it may wait for a reader that never comes.
 */
export function eachChunk(
  stream: Readable,
  listener: (chunk: Buffer) => Promise<void> | undefined,
): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const waiting: Buffer[] = [];
    let isBusy = false;
    let ending: { readonly error: Error | undefined } | undefined;
    let isOver = false;
    const stop = (error: Error | undefined) => {
      isOver = true;
      waiting.length = 0;
      stream.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError);
      resolve(error);
    };
    const proceed = () => {
      if (isOver) return;
      isBusy = false;
      while (waiting.length > 0) if (!handle(waiting.shift()!)) return;
      if (ending) stop(ending.error);
      else stream.resume();
    };
    /** Handles a chunk, and returns whether the next one can be handled at once. */
    const handle = (chunk: Buffer): boolean => {
      try {
        const settled = listener(chunk);
        if (!settled) return true;
        isBusy = true;
        stream.pause();
        settled.then(proceed, stop);
      } catch (error) {
        isBusy = true;
        stop(error as Error);
      }
      return false;
    };
    const onData = (chunk: Buffer) => {
      if (isBusy) waiting.push(chunk);
      else handle(chunk);
    };
    const end = (error: Error | undefined) => {
      ending ??= { error };
      if (!isBusy) stop(ending.error);
    };
    const onEnd = () => end(undefined);
    const onError = (error: Error) => end(error);
    const onClose = () => {
      if (stream.readableEnded) end(undefined);
      else stop(ending?.error ?? stream.errored ?? new Error('closed before its end'));
    };
    stream.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
    if (stream.closed) onClose();
    else stream.resume();
  });
}

/** Calls the listener for each item, one at a time. Returns undefined when the listener never returned a promise. */
export function eachInTurn<T>(
  items: Iterator<T>,
  listener: (item: T) => Promise<void> | undefined,
): Promise<void> | undefined {
  for (;;) {
    const { value, done } = items.next();
    if (done) return undefined;
    const settled = listener(value);
    if (settled) return settled.then(() => eachInTurn(items, listener));
  }
}
