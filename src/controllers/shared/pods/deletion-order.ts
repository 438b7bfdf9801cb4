/** Deletion order of surplus pods: those whose loss costs least go first. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { trueRestarts } from '../../../kinds/groups/core/pod/status/restart-counts.ts';
import { readySince } from './pod-life.ts';

const COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** Sort keys of a pod, each of which only breaks ties of those before it. Lower goes first. */
interface Reasons {
  readonly pod: SeenPod;
  readonly ranks: readonly number[];
  readonly since: number;
  readonly restarts: readonly number[];
  readonly created: number;
}

/**
 * Returns `count` of the pods, by: unassigned; pending, unknown; not ready; deletion cost; many of `related` on the
 * node; ready recently; restarts; young. Times count by magnitude, and the UID breaks ties.
 */
export function firstToGo(
  pods: readonly SeenPod[],
  count: number,
  { related, now }: { readonly related: readonly SeenPod[]; readonly now: number },
): readonly SeenPod[] {
  if (count >= pods.length) return pods;
  const onNode = new Map<string, number>();
  for (const { spec } of related) {
    if (spec.nodeName) onNode.set(spec.nodeName, (onNode.get(spec.nodeName) ?? 0) + 1);
  }
  return pods
    .map((pod) => reasonsOf(pod, onNode))
    .sort((a, b) => compare(a, b, now))
    .slice(0, count)
    .map(({ pod }) => pod);
}

function reasonsOf(pod: SeenPod, onNode: ReadonlyMap<string, number>): Reasons {
  const { metadata, spec, status } = pod;
  const since = readySince(pod);
  const ranks = [
    spec.nodeName ? 1 : 0,
    PHASES[status.phase ?? ''] ?? 0,
    since === undefined ? 0 : 1,
    costOf(metadata.annotations?.[COST]),
    -(onNode.get(spec.nodeName ?? '') ?? 0),
  ];
  return { pod, ranks, since: since ?? 0, restarts: restartsOf(pod), created: timeOf(metadata.creationTimestamp) };
}

function compare(a: Reasons, b: Reasons, now: number): number {
  return (
    compareEach(a.ranks, b.ranks) ||
    compareAges(a.since, b.since, { a, b, now }) ||
    compareEach(b.restarts, a.restarts) ||
    compareAges(a.created, b.created, { a, b, now })
  );
}

function compareEach(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Younger first; an unknown time is the youngest. */
function compareAges(
  timeA: number,
  timeB: number,
  { a, b, now }: { readonly a: Reasons; readonly b: Reasons; readonly now: number },
): number {
  if (timeA === timeB) return 0;
  if (timeA === 0 || timeB === 0) return timeA - timeB;
  const difference = magnitude(now - timeA) - magnitude(now - timeB);
  if (difference !== 0) return difference;
  return (a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1;
}

/** Computes in nanoseconds, so that one second and none differ. */
const magnitude = (age: number) => (age > 0 ? Math.floor(Math.log2(age * 1e6)) : -1);

/** The maximum of any container; then of any sidecar. */
function restartsOf({ metadata, spec, status }: SeenPod): [number, number] {
  const sidecars = new Set(
    spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const most = (statuses: Parameters<typeof trueRestarts>[1] = []) =>
    Math.max(0, ...trueRestarts(metadata.annotations, statuses));
  return [most(status.containerStatuses), most(status.initContainerStatuses?.filter(({ name }) => sidecars.has(name)))];
}

const timeOf = (time: string | undefined) => (time ? Date.parse(time) : 0);

const costOf = (text: string | undefined) => (text !== undefined && /^-?\d+$/.test(text) ? Number(text) : 0);
