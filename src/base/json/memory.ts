/** Estimates the memory of parsed JSON. Every value and field name counts, so that many small ones are not free. */

const VALUE_BYTES = 16;
const CONTAINER_BYTES = 48;

export function memoryOf(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  let bytes = CONTAINER_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += memoryOf(item);
  else {
    const fields = value as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(fields)) bytes += VALUE_BYTES + name.length + memoryOf(fields[name]);
  }
  return bytes;
}
