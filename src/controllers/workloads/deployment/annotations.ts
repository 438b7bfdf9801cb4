/** Annotations of a Deployment and its ReplicaSets: revisions, sizes, and those of the user. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import {
  ROLLBACK_ANNOTATION,
  ROLLBACK_UPDATED_ANNOTATION,
  rollbackUpdated,
} from '../../../kinds/conversion/rollback-to.ts';
import type { Named } from '../../loop/plan.ts';

export type Annotations = Readonly<Record<string, string>>;

export const REVISION = 'deployment.kubernetes.io/revision';
/** Earlier revisions with the same template. */
const HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MAX = 'deployment.kubernetes.io/max-replicas';

const MAX_HISTORY_LENGTH = 2000;

/** Annotations that are not copied between the two. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  HISTORY,
  DESIRED,
  MAX,
  ROLLBACK_ANNOTATION,
  ROLLBACK_UPDATED_ANNOTATION,
]);

/** A revision has 64 bits, and clients may set any. */
const MAX_REVISION = 2n ** 63n - 1n;

/** Returns the revision in the annotations; 0 without one. */
export function revisionOf({ metadata }: Named): bigint {
  return revision(metadata.annotations?.[REVISION]) ?? 0n;
}

/** Orders the older one first. */
export function compareRevisions(a: Named, b: Named): number {
  const [x, y] = [revisionOf(a), revisionOf(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The revision of a set that is newer than all of these. */
export function nextRevision(sets: readonly Named[]): bigint {
  const last = [...sets].sort(compareRevisions).at(-1);
  const newest = last ? revisionOf(last) : 0n;
  return newest < MAX_REVISION ? newest + 1n : newest;
}

/** The newest revision but one; 0 when there is none. */
export function lastRevision(sets: readonly Named[]): bigint {
  const last = [...sets].sort(compareRevisions).at(-2);
  return last ? revisionOf(last) : 0n;
}

/** The annotations of the ReplicaSet with the current template. */
export function presentAnnotations(set: Annotations = {}, deployment: Annotations = {}, next: bigint): Annotations {
  const copied = Object.fromEntries(Object.entries(deployment).filter(([key]) => !NOT_COPIED.has(key)));
  const before = set[REVISION];
  const known = before === undefined ? 0n : revision(before);
  const all = { ...set, ...copied };
  if (known === undefined || known >= next) return all;
  return { ...all, [REVISION]: String(next), ...(before ? { [HISTORY]: history(set[HISTORY], before) } : {}) };
}

/** Returns the annotations of a Deployment that is rolled back to a ReplicaSet. Those of the request stay. */
export function earlierAnnotations(deployment: Annotations = {}, set: Annotations = {}): Annotations {
  const own = Object.entries(deployment).filter(([key]) => NOT_COPIED.has(key));
  const updated = new Set(rollbackUpdated(deployment));
  const requested = Object.entries(deployment).filter(([key]) => updated.has(key));
  const earlier = Object.entries(set).filter(([key]) => !NOT_COPIED.has(key));
  return Object.fromEntries([...own, ...earlier, ...requested]);
}

export function withoutRollback(annotations: Annotations): Annotations {
  const { [ROLLBACK_ANNOTATION]: _, [ROLLBACK_UPDATED_ANNOTATION]: __, ...rest } = annotations;
  return rest;
}

/** The sizes that replicas were computed from, for proportional scaling during a rollout. */
export const sizeAnnotations = (desired: number, max: number): Annotations => ({
  [DESIRED]: String(desired),
  [MAX]: String(max),
});

export const desiredReplicas = (set: DeepReadonly<Named>): number | undefined =>
  wholeNumber(set.metadata.annotations?.[DESIRED]);

export const maxReplicas = (set: DeepReadonly<Named>): number | undefined =>
  wholeNumber(set.metadata.annotations?.[MAX]);

function history(revisions: string | undefined, revision: string): string {
  const all = revisions ? [...revisions.split(','), revision] : [revision];
  while (all.length > 1 && all.join(',').length > MAX_HISTORY_LENGTH) all.shift();
  return all.join(',');
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function revision(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value <= MAX_REVISION ? value : undefined;
}
