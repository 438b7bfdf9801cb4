/** How long something takes: `2s`, or anything from one time to another, `500ms..2s`. */
import type { Random } from '../../../base/random.ts';

/** Milliseconds. */
export interface Span {
  readonly least: number;
  readonly most: number;
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Undefined when the text is none. */
export function parseSpan(text: string): Span | undefined {
  const [first = '', last, ...rest] = text.split('..').map((part) => part.trim());
  const least = milliseconds(first);
  const most = last === undefined ? least : milliseconds(last);
  if (rest.length > 0 || least === undefined || most === undefined || most < least) return undefined;
  return { least, most };
}

function milliseconds(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|s|m|h)/g)) {
    total += Number(amount) * UNITS[unit as keyof typeof UNITS];
  }
  return Math.round(total);
}

/** One time out of the span. */
export function draw({ least, most }: Span, random: Random): number {
  return most === least ? least : least + random.int(most - least + 1);
}

/** As messages have it: `300ms`, `1.5s`, `2m40s`. */
export function inWords(milliseconds: number): string {
  const whole = Math.trunc(milliseconds);
  if (whole > 0 && whole < 1_000) return `${whole}ms`;
  const minutes = Math.floor(whole / 60_000);
  return `${minutes > 0 ? `${minutes}m` : ''}${(whole % 60_000) / 1_000}s`;
}
