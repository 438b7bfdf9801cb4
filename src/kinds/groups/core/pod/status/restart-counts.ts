/**
 * Restart counts of containers. `restartCount` in a status saturates at five; the true count of containers beyond that is
 * kept in an annotation of the pod.
 */
const ANNOTATION = 'kubernetes.io/restart-counts';
const MAX_SHOWN_RESTARTS = 5;

interface Counted {
  readonly name?: string;
  readonly restartCount?: number;
}

type Annotations = Readonly<Record<string, string>>;

/** The true restart count of each of these containers. */
export function trueRestarts(annotations: Annotations | undefined, statuses: readonly Counted[]): number[] {
  const beyond = annotations?.[ANNOTATION];
  const totals = beyond === undefined ? undefined : totalsOf(beyond);
  return statuses.map(({ name = '', restartCount = 0 }) => Math.max(restartCount, totals?.get(name) ?? 0));
}

/** The restart count to show in a container's status. */
export function shownRestarts(restarts: number): number {
  return Math.min(restarts, MAX_SHOWN_RESTARTS);
}

/**
 * Returns the annotation for containers whose restart count exceeds the maximum in a status; undefined if there are
 * none.
 */
export function restartAnnotations(counts: Iterable<readonly [string, number]>): Annotations | undefined {
  const beyond = [...counts].filter(([, restarts]) => restarts > MAX_SHOWN_RESTARTS);
  return beyond.length === 0 ? undefined : { [ANNOTATION]: JSON.stringify(Object.fromEntries(beyond)) };
}

const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

interface CountedPod {
  readonly metadata: { annotations?: Record<string, string> };
  readonly status: { [List in (typeof STATUS_LISTS)[number]]?: Counted[] };
}

/** Lowers the counts of a status that a client writes to the maximum, and keeps the true ones. */
export function saturateRestarts({ metadata, status }: CountedPod, old: CountedPod): void {
  const isBeyond = ({ restartCount = 0 }: Counted) => restartCount > MAX_SHOWN_RESTARTS;
  if (!STATUS_LISTS.some((list) => status[list]?.some(isBeyond))) return;
  const known = { ...old.metadata.annotations, ...metadata.annotations };
  const all = STATUS_LISTS.flatMap((list) => status[list] ?? []);
  const counts = trueRestarts(known, all).map((restarts, index) => [all[index]?.name ?? '', restarts] as const);
  metadata.annotations = { ...metadata.annotations, ...restartAnnotations(counts) };
  for (const list of STATUS_LISTS) {
    status[list] &&= status[list].map((each) => {
      return isBeyond(each) ? { ...each, restartCount: MAX_SHOWN_RESTARTS } : each;
    });
  }
}

/** Removes the annotation. */
export function forgetRestarts(annotations: Record<string, string> | undefined): void {
  delete annotations?.[ANNOTATION];
}

/** Clients can write the annotation, so values that are not restart counts are ignored. */
function totalsOf(text: string): ReadonlyMap<string, number> {
  try {
    const tree: unknown = JSON.parse(text);
    const entries = typeof tree === 'object' && tree !== null ? Object.entries(tree) : [];
    return new Map(entries.filter(([, total]) => Number.isSafeInteger(total) && total >= 0));
  } catch {
    return new Map();
  }
}
