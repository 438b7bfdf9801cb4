/** Formats values as Go's `%v` does, for messages that show them that way. */

const MAX_TEXT_LENGTH = 2000;

export function goText(value: unknown): string {
  const text = shown(value, 0);
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}

function shown(value: unknown, depth: number): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value !== 'object') return String(value);
  if (depth > 20) return '…';
  if (Array.isArray(value))
    return `[${value
      .slice(0, MAX_TEXT_LENGTH)
      .map((item) => shown(item, depth + 1))
      .join(' ')}]`;
  const entries = Object.entries(value)
    .slice(0, MAX_TEXT_LENGTH)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, item]) => `${key}:${shown(item, depth + 1)}`).join(' ')}]`;
}

export function goTypeOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      if (value === null || value === undefined) return '%!s(<nil>)';
      return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
  }
}
