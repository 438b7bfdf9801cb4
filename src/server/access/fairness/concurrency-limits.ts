/** Computes the number of seats of each priority level, and whether it may take more. Pure. */
import type { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';

/** Limits of a priority level, in seats. */
export interface ConcurrencyLimits {
  /** The level's share of all seats. */
  readonly nominal: number;
  /** Seats that the level never lends. */
  readonly lower: number;
  /** Maximum number of seats, including all that it may borrow. */
  readonly upper: number;
}

type Spec = PriorityLevelConfiguration['spec'];

/** Divides the seats by shares. They are rounded up, so the levels together may have slightly more than `total`. */
export function concurrencyLimitsOf(specs: ReadonlyMap<string, Spec>, total: number): Map<string, ConcurrencyLimits> {
  const levels = [...specs].map(([name, spec]) => ({ name, ...sharesOf(spec) }));
  const sum = levels.reduce((all, { shares }) => all + shares, 0);
  return new Map(
    levels.map(({ name, shares, lendablePercent, borrowingLimitPercent }) => {
      const nominal = sum === 0 ? 0 : Math.ceil((total * shares) / sum);
      const lower = nominal - percentOf(nominal, lendablePercent);
      const upper = borrowingLimitPercent === undefined ? total : nominal + percentOf(nominal, borrowingLimitPercent);
      return [name, { nominal, lower, upper: Math.max(upper, nominal) }];
    }),
  );
}

function percentOf(seats: number, percent: number): number {
  return Math.round((seats * percent) / 100);
}

interface Shares {
  readonly shares: number;
  readonly lendablePercent: number;
  readonly borrowingLimitPercent?: number | undefined;
}

function sharesOf({ limited, exempt }: Spec): Shares {
  const { nominalConcurrencyShares: shares = 0, lendablePercent = 0 } = limited ?? exempt ?? {};
  return { shares, lendablePercent, borrowingLimitPercent: limited?.borrowingLimitPercent };
}

export interface SeatUsage {
  readonly limits: ConcurrencyLimits;
  readonly executingSeats: number;
}

/**
 * Reports whether a level may take this many more seats. Beyond its nominal limit it borrows seats that other levels do
 * not use, except those that they never lend: a level gets those back at once, and the others when the requests that
 * borrowed them end.
 */
export function canTakeSeats(level: SeatUsage, seats: number, all: Iterable<SeatUsage>, total: number): boolean {
  const wanted = level.executingSeats + seats;
  if (wanted <= level.limits.nominal) return true;
  if (wanted > level.limits.upper) return false;
  let taken = wanted;
  for (const other of all) if (other !== level) taken += Math.max(other.executingSeats, other.limits.lower);
  return taken <= total;
}
