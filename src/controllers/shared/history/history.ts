/**
 * The revision history of a DaemonSet or StatefulSet. Each template is kept as a ControllerRevision, which the set owns like
 * its pods; `kubectl rollout` reads them and restores one by sending its content. This folder knows only templates and
 * revisions; which pods belong to which is up to the controllers.
 */

import type { DeepReadonly, KindRef } from '../../../api/object-types.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import { memoizedPair } from '../../../base/collections/pair-memo.ts';
import { rawJson, withSortedKeys } from '../../../base/json/raw-json.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { ControllerRevision } from '../../../kinds/groups/apps/controller-revision.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { PodTemplateSpec } from '../../../kinds/shapes/pod/pod-template.ts';
import type { Listers } from '../../loop/define.ts';
import { type Action, create, type Named, patch, remove } from '../../loop/plan.ts';
import { controllerReference, olderFirst } from '../ownership.ts';
import { encodedHash } from '../pods/template-hash.ts';

export type SeenRevision = DeepReadonly<ControllerRevision>;
export type Template = DeepReadonly<PodTemplateSpec>;

export const REVISION_LABEL = 'controller-revision-hash';

/** Leaves room for a hash within the maximum length of a name. */
const MAX_PREFIX_LENGTH = 223;

/** Adoption of orphaned pods and revisions that the server allows. */
export interface Adoption {
  readonly pods: boolean;
  readonly revisions: boolean;
}

/** An object with a template that changes over time. */
interface HistoryOwner extends Named {
  readonly spec: { readonly template: Template };
}

export interface HistoryInput {
  readonly kind: KindRef;
  /** Revisions that the set owns. */
  readonly revisions: readonly SeenRevision[];
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly world: Listers;
  /** The label of a revision with its hash. */
  readonly hashLabel: string;
  /** The value of the pods' revision label. */
  markOf(revision: SeenRevision): string;
  /** Number of name collisions so far; undefined when there were none. */
  readonly collisions: number | undefined;
  /** The hash in the name of a revision with this content. */
  hashOf(template: Template, data: object, collisions: number | undefined): string;
}

export interface History {
  /** The revision of the current template. It exists once the actions are performed. */
  readonly present: SeenRevision;
  /** The others, oldest first. */
  readonly older: readonly SeenRevision[];
  readonly collisions: number | undefined;
  readonly actions: readonly Action[];
}

/** Finds or creates the revision of the current template, and makes sure that it is unique and the newest. */
export function history(owner: HistoryOwner, input: HistoryInput): History {
  const { template } = owner.spec;
  const sorted = [...input.revisions].sort(byRevision);
  const isOf = ({ data }: SeenRevision) => typeof data === 'object' && data !== null && isDataOf(data, template);
  const older = sorted.filter((revision) => !isOf(revision));
  const equal = sorted.filter(isOf);
  const next = (older.at(-1)?.revision ?? 0) + 1;
  const found = equal.pop();
  if (!found) {
    const { revision, collisions } = newRevision(owner, input, next);
    return { present: revision, older, collisions, actions: [create(ControllerRevision, revision as never)] };
  }
  const present = { ...found, revision: Math.max(found.revision, next) };
  const actions = [...renumber(found, present.revision), ...mergeInto(found, equal, input)];
  return { present, older, collisions: input.collisions, actions };
}

/** Deletes the oldest `count` revisions that no pod uses. They are sorted. */
export function forget(unused: readonly SeenRevision[], count: number): readonly Action[] {
  return unused
    .slice(0, Math.max(0, count))
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map((revision) => remove(ControllerRevision, revision));
}

export function templateOf({ data }: SeenRevision): Template | undefined {
  const { $patch: _, ...template } = (data as any)?.spec?.template ?? {};
  return Object.keys(template).length > 0 ? (template as Template) : undefined;
}

/** Reports whether the data equals the template's revision, in any order of keys. Every plan asks this of all. */
const isDataOf = memoizedPair((data: object, template: Template) =>
  deepEqual(data, { spec: { template: { ...template, $patch: 'replace' } } }),
);

function newRevision(
  owner: HistoryOwner,
  { kind, hashLabel, hashOf, world, collisions: before }: HistoryInput,
  number: number,
): { readonly revision: SeenRevision; readonly collisions: number | undefined } {
  const { name: prefix = '', namespace, annotations } = owner.metadata;
  const { template } = owner.spec;
  const data = revisionData(template);
  for (let collisions = before; ; collisions = (collisions ?? 0) + 1) {
    const hash = hashOf(template, data, collisions);
    const name = `${prefix.slice(0, MAX_PREFIX_LENGTH)}-${hash}`;
    // It is not the current template, or it belongs to another owner.
    if (world.of(ControllerRevision).get(name, namespace)) continue;
    const metadata = {
      name,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      annotations,
      ownerReferences: [controllerReference(owner, kind)],
    };
    return { revision: { metadata, data, revision: number } as unknown as SeenRevision, collisions };
  }
}

function renumber(found: SeenRevision, revision: number): readonly Action[] {
  if (found.revision === revision) return [];
  const changes = { metadata: { uid: found.metadata.uid }, revision };
  return [patch(ControllerRevision, found, { type: 'merge', changes })];
}

/** Deletes duplicates, and relabels their pods: they have the same template. */
function mergeInto(
  kept: SeenRevision,
  others: readonly SeenRevision[],
  { pods, markOf }: HistoryInput,
): readonly Action[] {
  if (others.length === 0) return [];
  const marks = new Set(others.map(markOf));
  const labels = { [REVISION_LABEL]: markOf(kept) };
  return [
    ...pods
      .filter(({ metadata }) => marks.has(metadata.labels?.[REVISION_LABEL] ?? ''))
      .map((pod) => patch(Pod, pod, { type: 'merge', changes: { metadata: { uid: pod.metadata.uid, labels } } })),
    ...forget(others, others.length),
  ];
}

const byRevision = (a: SeenRevision, b: SeenRevision) => a.revision - b.revision || olderFirst(a, b);

/**
 * The content of a ControllerRevision, in the bytes that Kubernetes would write and compare: a strategic merge patch
 * that replaces the template. Cached: several plans ask for it, and it may have megabytes.
 */
export const revisionData = memoized(
  (template: Template): object => withSortedKeys({ spec: { template: { ...template, $patch: 'replace' } } }) as object,
);

/** The hash in the name of a StatefulSet's revision, which follows from its content. */
export function revisionHash(data: object, collisions: number): string {
  return encodedHash(fnv1(String(collisions), hashOf(data)) >>> 0);
}

const hashOf = memoized((data: object): number => fnv1(rawJson(data), FNV_OFFSET));

const FNV_OFFSET = 0x811c9dc5;

/** A function that is called often is compiled earlier than a long loop is: that of the first large content would be slow. */
const PIECE_BYTES = 2_048;

/** Continues from the hash of the preceding text. */
function fnv1(text: string, before: number): number {
  const bytes = Buffer.from(text);
  let hash = before;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) hash = fnv1Piece(bytes, at, hash);
  return hash;
}

function fnv1Piece(bytes: Buffer, start: number, before: number): number {
  const end = Math.min(start + PIECE_BYTES, bytes.length);
  let hash = before;
  for (let i = start; i < end; i++) hash = Math.imul(hash, 0x01000193) ^ bytes[i]!;
  return hash;
}
