/**
 * How often containers were started again. A status counts to five and stops there; the annotation knows the true number
 * of those that went on. Who counts restarts asks here.
 */
const ANNOTATION = 'kubernetes.io/restart-counts';
const MOST = 5;

interface Counted {
  readonly name?: string;
  readonly restartCount?: number;
}

type Annotations = Readonly<Record<string, string>>;

/** How often each of these containers was really started again, in their order. */
export function trueRestarts(annotations: Annotations | undefined, statuses: readonly Counted[]): number[] {
  const beyond = annotations?.[ANNOTATION];
  const totals = beyond === undefined ? undefined : totalsOf(beyond);
  return statuses.map(({ name = '', restartCount = 0 }) => Math.max(restartCount, totals?.get(name) ?? 0));
}

/** What a container's status says of so many restarts. */
export function shownRestarts(restarts: number): number {
  return Math.min(restarts, MOST);
}

/** What a pod's annotations are to say besides, where some container was started more often than a status can tell. */
export function restartAnnotations(counts: Iterable<readonly [string, number]>): Annotations | undefined {
  const beyond = [...counts].filter(([, restarts]) => restarts > MOST);
  return beyond.length === 0 ? undefined : { [ANNOTATION]: JSON.stringify(Object.fromEntries(beyond)) };
}

/** Anybody may write the annotation: what is no number of restarts does not count. */
function totalsOf(text: string): ReadonlyMap<string, number> {
  try {
    const tree: unknown = JSON.parse(text);
    const entries = typeof tree === 'object' && tree !== null ? Object.entries(tree) : [];
    return new Map(entries.filter(([, total]) => Number.isSafeInteger(total) && total >= 0));
  } catch {
    return new Map();
  }
}
