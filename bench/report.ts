/** Prints figures: as a table for people, as JSON for programs. */

export interface Figure {
  readonly name: string;
  readonly unit: '/s' | 'MB/s' | 'ms' | 'µs' | 'MB' | '%' | '';
  readonly qd: number;
  /** Figure of the bare server or another peer, measured in the same run; absent when there is none. */
  readonly bare?: number;
  /** Promised value: a minimum for rates and when more is better, a maximum for all else. */
  readonly promise?: number;
  readonly moreIsBetter?: boolean;
}

export const isLeast = ({ unit, moreIsBetter }: Figure) => moreIsBetter ?? (unit === '/s' || unit === 'MB/s');
const isKept = (figure: Figure) =>
  figure.promise === undefined || (isLeast(figure) ? figure.qd >= figure.promise : figure.qd <= figure.promise);

export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    amount(figure.qd, figure.unit),
    figure.bare === undefined ? '' : amount(figure.bare, figure.unit),
    figure.bare === undefined ? '' : (figure.qd / figure.bare).toFixed(2),
    figure.promise === undefined
      ? ''
      : `${isLeast(figure) ? '≥' : '≤'} ${amount(figure.promise, figure.unit)} ${isKept(figure) ? '✓' : '✗'}`,
  ]);
  return columns([['figure', 'qd', 'bare server', 'ratio', 'promise'], ...rows]);
}

/** Lays out rows as a table: names on the left, and all else on the right of its column. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))))
    .map((row) => row.join('  '))
    .join('\n');
}

export function amount(value: number, unit: Figure['unit']): string {
  if (unit === '') return String(value);
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  const text = value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits });
  return unit === '/s' ? `${text}/s` : `${text} ${unit}`;
}
