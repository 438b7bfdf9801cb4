/** Compares the figures of two builds that were measured by turns (scripts/compare.mjs). */
import { amount, columns, type Figure, isLeast } from './report.ts';

/** Figures of one round: of the commit that is compared with, and of the present sources. */
export interface Round {
  readonly before: readonly Figure[];
  readonly now: readonly Figure[];
}

interface Row {
  readonly figure: Figure;
  readonly before: number;
  readonly now: number;
  readonly verdict: 'better' | 'same' | 'worse';
}

/** A difference of medians that a machine shows without a cause. */
const NOISE = 0.05;

/**
 * Compares the figures that all runs have, each as a ratio to its peer of the same run where there is one: machines change their
 * speed between runs. A figure is worse, or better, when each round says so, and the medians by more than noise.
 */
export function compare(rounds: readonly Round[]): Row[] {
  return rounds[0]!.now.flatMap((figure) => {
    const valuesOf = (run: keyof Round) =>
      rounds.flatMap((round) => round[run].filter(({ name }) => name === figure.name).map(measured));
    const [before, now] = [valuesOf('before'), valuesOf('now')];
    if (before.length < rounds.length || now.length < rounds.length) return [];
    const gain = (from: number, to: number) => (isLeast(figure) ? to / from : from / to) - 1;
    const gains = now.map((value, round) => gain(before[round]!, value));
    const total = gain(median(before), median(now));
    const isWorse = total < -NOISE && gains.every((each) => each < 0);
    const isBetter = total > NOISE && gains.every((each) => each > 0);
    const verdict = isWorse ? 'worse' : isBetter ? 'better' : 'same';
    return [{ figure, before: median(before), now: median(now), verdict }];
  });
}

const measured = ({ qd, bare }: Figure) => (bare === undefined ? qd : qd / bare);

export function comparisonTable(commit: string, rows: readonly Row[]): string {
  const lines = rows.map(({ figure: { name, unit, bare }, before, now, verdict }) => {
    const text = (value: number) => (bare === undefined ? amount(value, unit) : `${value.toFixed(2)} of its peer`);
    return [name, text(before), text(now), (now / before).toFixed(2), verdict];
  });
  return columns([['figure', commit, 'now', 'ratio', ''], ...lines]);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
