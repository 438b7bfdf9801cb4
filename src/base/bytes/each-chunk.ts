import type { Readable } from 'node:stream';

/**
 * Calls the listener for each chunk of a stream as it arrives, one after the other, and holds the stream back while the promise
 * that it returns is not settled. Unlike an iterator it neither joins chunks nor waits for a turn between them. Resolves when
 * the stream has ended, with its error, or when the listener threw or rejected, with that. A stream that is closed before its end
 * is not waited for: a listener that holds it back, until somebody else reads, might never be done.
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
    /** Whether the next chunk can be handled now. */
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

/** Calls the listener for each item, the next one when the promise that it returns is settled. Undefined when none was returned. */
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
