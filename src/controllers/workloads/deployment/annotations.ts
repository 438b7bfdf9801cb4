/** What a Deployment and its ReplicaSets note on each other: revisions, sizes, and the user's own annotations. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import { ROLLBACK_ANNOTATION } from '../../../kinds/conversion/rollback-to.ts';
import type { Named } from '../../loop/plan.ts';

export type Annotations = Readonly<Record<string, string>>;

export const REVISION = 'deployment.kubernetes.io/revision';
/** Earlier revisions that had the same template. */
const HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MAX = 'deployment.kubernetes.io/max-replicas';

const LONGEST_HISTORY = 2000;

/** These belong to one of the two alone. */
const OWN: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  HISTORY,
  DESIRED,
  MAX,
  ROLLBACK_ANNOTATION,
]);

/** 0 when it has none. */
export function revisionOf({ metadata }: Named): number {
  return wholeNumber(metadata.annotations?.[REVISION]) ?? 0;
}

export const newestRevision = (sets: readonly Named[]): number => Math.max(0, ...sets.map(revisionOf));

/** The newest revision but one; 0 when there is none. */
export function lastRevision(sets: readonly Named[]): number {
  return sets.map(revisionOf).sort((a, b) => b - a)[1] ?? 0;
}

/** The annotations of a ReplicaSet that has the present template. */
export function presentAnnotations(set: Annotations = {}, deployment: Annotations = {}, revision: number): Annotations {
  const copied = Object.fromEntries(Object.entries(deployment).filter(([key]) => !OWN.has(key)));
  const before = set[REVISION];
  const known = before === undefined ? 0 : wholeNumber(before);
  const all = { ...set, ...copied };
  if (known === undefined || known >= revision) return all;
  return { ...all, [REVISION]: String(revision), ...(before ? { [HISTORY]: history(set[HISTORY], before) } : {}) };
}

/** The annotations of a Deployment that goes back to the template of a ReplicaSet. */
export function earlierAnnotations(deployment: Annotations = {}, set: Annotations = {}): Annotations {
  const own = Object.entries(deployment).filter(([key]) => OWN.has(key));
  const earlier = Object.entries(set).filter(([key]) => !OWN.has(key));
  return Object.fromEntries([...own, ...earlier]);
}

export function withoutRollback({ [ROLLBACK_ANNOTATION]: _, ...rest }: Annotations): Annotations {
  return rest;
}

/** What the sizes were meant for: how they are shared out when the Deployment is scaled half way. */
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
  while (all.length > 1 && all.join(',').length > LONGEST_HISTORY) all.shift();
  return all.join(',');
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
