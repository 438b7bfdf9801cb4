/** JSON that another server wrote: what has too many values or is nested too deep is not read. */
import { isShallow } from '../../base/json/size.ts';

const MAX_DEPTH = 100;
const MAX_VALUES = 500_000;

/** Undefined when it is not JSON, or too much of it. Members named `__proto__` are left out. */
export function boundedJson(body: Buffer): unknown {
  const text = body.toString();
  if (!isShallow(text, MAX_DEPTH)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isBounded(value) ? value : undefined;
}

function isBounded(root: unknown): boolean {
  const waiting = [root];
  let count = 0;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
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
