/**
 * The templates that a DaemonSet or a StatefulSet has had. Each is kept as a ControllerRevision, which belongs to the set as
 * its pods do; `kubectl rollout` reads them, and goes back by sending the set what a revision holds. What lives here
 * knows only templates and revisions: which pods come from which of them is for the controllers to say.
 */
import { deepEqual } from '../../../base/tree.ts';
import type { DeepReadonly, KindRef } from '../../../client/object-types.ts';
import { ControllerRevision } from '../../../kinds/groups/apps/controller-revision.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { PodTemplateSpec } from '../../../kinds/shapes/pod/pod-template.ts';
import type { Listers } from '../../loop/define.ts';
import { type Action, create, type Named, patch, remove } from '../../loop/plan.ts';
import { controllerReference } from '../ownership.ts';
import { templateHash } from '../pods/template-hash.ts';

export type SeenRevision = DeepReadonly<ControllerRevision>;
export type Template = DeepReadonly<PodTemplateSpec>;

/** Pods carry in it which revision they come from. */
export const REVISION_LABEL = 'controller-revision-hash';

/** Room for a hash behind it, within the longest name that an object may have. */
const LONGEST_PREFIX = 223;

/** What has templates over time. */
interface Keeper extends Named {
  readonly spec: { readonly template: Template };
}

export interface HistoryInput {
  readonly kind: KindRef;
  /** Those that the keeper has claimed. */
  readonly revisions: readonly SeenRevision[];
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly world: Listers;
  /** Where a revision carries its hash. */
  readonly hashLabel: string;
  /** What the pods of a revision carry. */
  markOf(revision: SeenRevision): string;
  /** How often a name was taken before; undefined where none was. */
  readonly collisions: number | undefined;
}

export interface History {
  /** Of the present template. It exists once the actions are performed. */
  readonly present: SeenRevision;
  /** The others, oldest first. */
  readonly older: readonly SeenRevision[];
  readonly collisions: number | undefined;
  readonly actions: readonly Action[];
}

/** Finds the revision of the present template or makes one, and sees to it that there is one only, and that it is newest. */
export function history(keeper: Keeper, input: HistoryInput): History {
  const data = dataOf(keeper.spec.template);
  const sorted = [...input.revisions].sort(byRevision);
  const older = sorted.filter((revision) => !deepEqual(revision.data, data));
  const equal = sorted.filter((revision) => deepEqual(revision.data, data));
  const next = (older.at(-1)?.revision ?? 0) + 1;
  const found = equal.pop();
  if (!found) {
    const { revision, collisions } = newRevision(keeper, input, next);
    return { present: revision, older, collisions, actions: [create(ControllerRevision, revision as never)] };
  }
  const present = { ...found, revision: Math.max(found.revision, next) };
  const actions = [...renumber(found, present.revision), ...mergeInto(found, equal, input)];
  return { present, older, collisions: input.collisions, actions };
}

/** Deletes the oldest of those that no pod needs, so many. They are sorted. */
export function forget(unused: readonly SeenRevision[], count: number): readonly Action[] {
  return unused
    .slice(0, Math.max(0, count))
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map((revision) => remove(ControllerRevision, revision));
}

/** The template that a revision holds. */
export function templateOf({ data }: SeenRevision): Template | undefined {
  const { $patch: _, ...template } = (data as any)?.spec?.template ?? {};
  return Object.keys(template).length > 0 ? (template as Template) : undefined;
}

/** A patch that brings the template back; what stands in it now is replaced as a whole. */
const dataOf = (template: Template) => ({ spec: { template: { ...template, $patch: 'replace' } } });

function newRevision(
  keeper: Keeper,
  { kind, hashLabel, world, collisions: before }: HistoryInput,
  number: number,
): { readonly revision: SeenRevision; readonly collisions: number | undefined } {
  const { name: prefix = '', namespace, annotations } = keeper.metadata;
  const { template } = keeper.spec;
  for (let collisions = before; ; collisions = (collisions ?? 0) + 1) {
    const hash = templateHash(template, collisions);
    const name = `${prefix.slice(0, LONGEST_PREFIX)}-${hash}`;
    // Whoever has it, what it holds is not the present template, or it belongs to somebody else.
    if (world.of(ControllerRevision).get(name, namespace)) continue;
    const metadata = {
      name,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations ? { annotations } : {}),
      ownerReferences: [controllerReference(keeper, kind)],
    };
    return { revision: { metadata, data: dataOf(template), revision: number } as unknown as SeenRevision, collisions };
  }
}

function renumber(found: SeenRevision, revision: number): readonly Action[] {
  if (found.revision === revision) return [];
  const changes = { metadata: { uid: found.metadata.uid }, revision };
  return [patch(ControllerRevision, found, { type: 'merge', changes })];
}

/** Others that hold the same go, and their pods change over: they come from the same template. */
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

function byRevision(a: SeenRevision, b: SeenRevision): number {
  if (a.revision !== b.revision) return a.revision - b.revision;
  const [timeA = '', timeB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
