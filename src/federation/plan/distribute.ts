/**
 * Divides replicas between clusters. Every cluster first gets its minimum, then, unless replicas are rebalanced, its
 * current number; the rest is divided by weight, up to the maximum and the capacity of each cluster.
 */
import { createHash } from 'node:crypto';
import { type ClusterPreference, type Preferences, preferenceFor } from './preferences.ts';

/** A cluster that can get replicas. */
export interface Recipient {
  readonly name: string;
  /** Replicas that it has now. */
  readonly current: number;
  /** Number of replicas that can run there; undefined when not known to be limited. */
  readonly capacity?: number;
}

export interface DistributeOptions {
  /** Identifies the object: those of equal weight get odd replicas in an order that differs by object. */
  readonly key: string;
  readonly replicas: number;
  readonly preferences: Preferences;
  readonly clusters: readonly Recipient[];
}

interface Share extends Recipient, ClusterPreference {
  /** Replicas that it should have by minimum, weight and maximum, and those that it has room for, too. */
  wanted: number;
  fitting: number;
  total: number;
}

/**
 * Returns replicas by cluster. Replicas that fit nowhere are given to the clusters that should have them by weight,
 * where they wait for room; those above all maxima are not assigned. When replicas are rebalanced, a cluster without
 * room also keeps those that run elsewhere for lack of room: they wait there, in excess, so that they move back when
 * there is room.
 */
export function distribute(options: DistributeOptions): ReadonlyMap<string, number> {
  const { replicas, preferences, clusters } = options;
  const shares = sharesOf(options);
  divide(shares, replicas, 'wanted', ({ maxReplicas = replicas }) => maxReplicas);
  divide(shares, replicas, 'fitting', ({ maxReplicas = replicas, capacity = replicas }) =>
    Math.min(maxReplicas, capacity),
  );
  if (!preferences.rebalance) keepCurrent(shares, replicas);
  fill(shares, replicas, 'fitting');
  fill(shares, replicas, 'wanted');
  const isFull = ({ total, capacity }: Share) => capacity !== undefined && total >= capacity;
  const waiting = (share: Share) => (isFull(share) ? Math.max(share.total, share.wanted) : share.total);
  const totals = new Map(shares.map((share) => [share.name, preferences.rebalance ? waiting(share) : share.total]));
  return new Map(clusters.map(({ name }) => [name, totals.get(name) ?? 0]));
}

/** Heaviest first. */
function sharesOf({ key, preferences, clusters }: DistributeOptions): readonly Share[] {
  const found = clusters.flatMap((cluster): Share[] => {
    const preference = preferenceFor(preferences, cluster.name);
    return preference ? [{ ...cluster, ...preference, wanted: 0, fitting: 0, total: 0 }] : [];
  });
  const orders = new Map(found.map(({ name }) => [name, createHash('sha256').update(`${name}\n${key}`).digest('hex')]));
  return found.sort((a, b) => b.weight - a.weight || (orders.get(a.name)! < orders.get(b.name)! ? -1 : 1));
}

/** Gives each cluster its minimum and divides the rest by weight, in as many rounds as it takes to fill those with a limit. */
function divide(
  shares: readonly Share[],
  replicas: number,
  field: 'wanted' | 'fitting',
  limitOf: (share: Share) => number,
): void {
  let left = replicas;
  for (const share of shares) {
    share[field] = Math.min(share.minReplicas, limitOf(share), left);
    left -= share[field];
  }
  let open = shares.filter((share) => share.weight > 0 && share[field] < limitOf(share));
  while (left > 0 && open.length > 0) {
    const weights = open.reduce((sum, { weight }) => sum + weight, 0);
    const inRound = left;
    for (const share of open) {
      // Fractions are rounded up, so that the heaviest get odd replicas.
      const due = Math.min(Math.ceil((inRound * share.weight) / weights), left, limitOf(share) - share[field]);
      share[field] += due;
      left -= due;
    }
    open = open.filter((share) => share[field] < limitOf(share));
  }
}

/** Starts with the running replicas, as far as they are allowed and can run, without reducing a minimum for them. */
function keepCurrent(shares: readonly Share[], replicas: number): void {
  let left = replicas;
  for (const share of shares) {
    share.total = Math.min(share.minReplicas, share.fitting);
    left -= share.total;
  }
  for (const share of shares) {
    const { current, maxReplicas = current, capacity = current } = share;
    const kept = Math.max(0, Math.min(Math.min(current, maxReplicas, capacity) - share.total, left));
    share.total += kept;
    left -= kept;
  }
}

/** Distributes the remaining replicas to clusters that have too few, in proportion to the missing ones. */
function fill(shares: readonly Share[], replicas: number, target: 'wanted' | 'fitting'): void {
  let left = replicas - shares.reduce((sum, { total }) => sum + total, 0);
  const inRound = left;
  const lacks = shares.map((share) => Math.max(0, share[target] - share.total));
  const all = lacks.reduce((sum, lack) => sum + lack, 0);
  shares.forEach((share, index) => {
    const lack = lacks[index]!;
    const due = lack === 0 ? 0 : Math.min(lack, left, Math.ceil((inRound * lack) / all));
    share.total += due;
    left -= due;
  });
}
