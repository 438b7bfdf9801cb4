/** Parses JSON from another server, unless it has too many values or is nested too deep. */
import type { DividedWork, Pace } from '../../../../base/event-loop/in-turns.ts';
import { isShallow } from '../../../../base/json/size.ts';

const MAX_DEPTH = 100;
const MAX_VALUES = 500_000;

/** Parses a document of megabytes; undefined if it is not JSON, or too large. Drops members named `__proto__`. */
export function* boundedJsonInTurns(body: Buffer, pace: Pace): DividedWork<unknown> {
  const text = body.toString();
  if (!isShallow(text, MAX_DEPTH)) return undefined;
  if (pace.isSpent()) yield;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return (yield* isBounded(value, pace)) ? value : undefined;
}

/** Parses a short document synchronously. */
export function boundedJson(body: Buffer): unknown {
  return boundedJsonInTurns(body, { isSpent: () => false }).next().value;
}

function* isBounded(root: unknown, pace: Pace): DividedWork<boolean> {
  const waiting = [root];
  let count = 0;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (pace.isSpent()) yield;
    if (typeof value !== 'object' || value === null) continue;
    const record = value as Record<string, unknown>;
    if (Object.hasOwn(record, '__proto__')) Reflect.deleteProperty(record, '__proto__');
    for (const each of Object.values(record)) {
      if (++count > MAX_VALUES) return false;
      if (typeof each === 'object' && each !== null) waiting.push(each);
    }
  }
  return true;
}
