import { isApiError } from '../../api/errors.ts';
import type { DirectHandle } from '../../server/serving/direct.ts';

/**
 * Gives errors the stack trace of the call. V8 keeps the ten innermost frames of a trace, which would all be of the server, and
 * people look for the line of their test.
 */
export function tracedCalls(handle: DirectHandle): DirectHandle {
  return async function traced(call) {
    const caller: { stack?: string } = {};
    Error.captureStackTrace(caller, traced);
    try {
      return await handle(call);
    } catch (error) {
      if (error instanceof Error) addTrace(error, caller.stack);
      throw error;
    }
  };
}

/** An error of the API is told by its message; of any other, the place in the server matters, too. */
function addTrace(error: Error, ofCaller: unknown): void {
  // A program may make traces into something else than text (`Error.prepareStackTrace`).
  if (typeof ofCaller !== 'string' || typeof error.stack !== 'string') return;
  const frames = ofCaller.slice(ofCaller.indexOf('\n'));
  const isExplained = isApiError(error) && error.code !== 500;
  error.stack = (isExplained ? `${error.name}: ${error.message}` : error.stack) + frames;
}
