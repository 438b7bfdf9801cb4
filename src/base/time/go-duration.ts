/** Milliseconds in each unit that a duration may use. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Parses a duration such as `1h30m` into milliseconds, or returns an error. */
export function parseDuration(text: string): number | { readonly error: string } {
  const [, sign, magnitude = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (magnitude === '0') return 0;
  const invalid = { error: `time: invalid duration ${JSON.stringify(text)}` };
  let rest = magnitude;
  let total = 0;
  if (!rest) return invalid;
  while (rest) {
    const [part, number = '', unit = ''] = /^(\d+\.?\d*|\.\d+)([^\d.]*)/.exec(rest) ?? [];
    if (!part) return invalid;
    if (!unit) return { error: `time: missing unit in duration ${JSON.stringify(text)}` };
    const scale = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
    if (scale === undefined) {
      return { error: `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}` };
    }
    total += Number(number) * scale;
    rest = rest.slice(part.length);
  }
  return sign === '-' ? -total : total;
}
