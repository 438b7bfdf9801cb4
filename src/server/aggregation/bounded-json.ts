/** JSON that another server wrote: what has too many values or is nested too deep is not read. */
const MAX_DEPTH = 100;
const MAX_VALUES = 500_000;

/** Undefined when it is not JSON, or too much of it. Members named `__proto__` are left out. */
export function boundedJson(body: Buffer): unknown {
  if (!isShallow(body)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return undefined;
  }
  return isBounded(value) ? value : undefined;
}

const [QUOTE, BACKSLASH, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = Buffer.from('"\\{[}]');

/** Whether nothing is nested too deep, found without building the values. */
function isShallow(body: Buffer): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]!;
    if (isQuoted) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) isQuoted = false;
    } else if (byte === QUOTE) isQuoted = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return false;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
  }
  return true;
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
