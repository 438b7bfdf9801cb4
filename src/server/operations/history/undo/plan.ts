/** Decides what returns the objects of a set to the state before it. Performs nothing. */
import { clientContent } from '../../../../api/undo/content.ts';
import { deepEqual } from '../../../../base/json/tree.ts';
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';

/** An object of the set, before it and now. Both states are in the stored version. */
export interface SetObject {
  readonly key: string;
  readonly kind: Kind;
  readonly before: KubeObject | undefined;
  readonly now: KubeObject | undefined;
  /** Why the object is not only the set's: who changed it later; undefined when nobody did. */
  readonly conflict: string | undefined;
}

export type UndoStep = { readonly target: SetObject } & (
  | { readonly action: 'create'; readonly before: KubeObject }
  | { readonly action: 'update'; readonly before: KubeObject; readonly now: KubeObject }
  | { readonly action: 'delete'; readonly now: KubeObject }
  /** Left to its controller, which makes it again by itself, or because nothing can be done. */
  | { readonly action: 'leave'; readonly reason: string }
  /** Left because of a later change of somebody else. */
  | { readonly action: 'conflict'; readonly reason: string }
);

interface PlanOptions {
  /** True to overwrite later changes of others. */
  readonly force: boolean;
  /** Returns a Namespace as it is now; undefined when it does not exist. */
  readonly namespace: (name: string) => KubeObject | undefined;
}

/** Plans deletes first, then updates, then creates, of which owners come before what they own. */
export function planSet(objects: readonly SetObject[], { force, namespace }: PlanOptions): readonly UndoStep[] {
  const planned = objects.flatMap((target) => stepFor(target, force) ?? []);
  const made = new Set(planned.flatMap((step) => (step.action === 'create' ? nameOfNamespace(step) : [])));
  const steps = planned.map((step) => {
    if (step.action !== 'create') return step;
    const { namespace: name } = step.before.metadata;
    const reason = name && !made.has(name) ? missingNamespace(namespace(name)) : undefined;
    return reason === undefined ? step : ({ target: step.target, action: 'conflict', reason } as const);
  });
  const creates = steps.filter(({ action }) => action === 'create');
  const others = steps.filter(({ action }) => action !== 'create');
  others.sort((a, b) => ORDER.indexOf(a.action) - ORDER.indexOf(b.action));
  return [...others, ...ownersFirst(creates as CreateStep[])];
}

const ORDER: readonly UndoStep['action'][] = ['conflict', 'leave', 'delete', 'update', 'create'];

type CreateStep = Extract<UndoStep, { action: 'create' }>;

function nameOfNamespace({ target: { kind }, before }: CreateStep): string[] {
  return kind.kind === 'Namespace' && kind.group === '' ? [before.metadata.name ?? ''] : [];
}

/** Returns why nothing can be created in a namespace; undefined when it can. */
function missingNamespace(namespace: KubeObject | undefined): string | undefined {
  if (!namespace) return 'its namespace does not exist: undo the deletion of that, too';
  return isTerminating(namespace) ? 'its namespace is being deleted: undo again when that is gone' : undefined;
}

function stepFor(target: SetObject, force: boolean): UndoStep | undefined {
  const { now, conflict } = target;
  // What was being deleted when the set began would be deleted again.
  const before = isTerminating(target.before) ? undefined : target.before;
  if (!before && !now) return undefined;
  if (isTerminating(now)) {
    if (!before) return undefined;
    const reason = 'its deletion is under way, which nothing stops: undo again when it is gone';
    return { target, action: 'conflict', reason };
  }
  if (before && now && (isMadeAgain(before, now) || deepEqual(comparable(before), comparable(now)))) return undefined;
  if (before && !now) {
    const reason = reasonToLeave(target.kind, before);
    if (reason !== undefined) return { target, action: 'leave', reason };
  }
  if (conflict !== undefined && !force) return { target, action: 'conflict', reason: conflict };
  if (!before) return { target, action: 'delete', now: now! };
  return now ? { target, action: 'update', before, now } : { target, action: 'create', before };
}

/** Reports whether the controller of a deleted object has made another one of its name. */
function isMadeAgain(before: KubeObject, now: KubeObject): boolean {
  return before.metadata.uid !== now.metadata.uid && controllerOf(now) !== undefined;
}

/** The content of an object without what differs when only its owners were created again. */
function comparable(object: KubeObject): object {
  const content = clientContent(object) as Pick<KubeObject, 'metadata'>;
  const { ownerReferences, ...metadata } = content.metadata;
  const owners = ownerReferences?.map((each) => ({ ...each, uid: '' }));
  return { ...content, metadata: { ...metadata, ownerReferences: owners } };
}

const controllerOf = ({ metadata }: KubeObject) => metadata.ownerReferences?.find(({ controller }) => controller);

/** Returns why a deleted object is not created again; undefined when it is. */
function reasonToLeave(kind: Kind, object: KubeObject): string | undefined {
  const owner = controllerOf(object);
  if (owner) return `${owner.kind} ${owner.name} makes its objects itself`;
  return kind.exportProblem?.(object, false);
}

function isTerminating(object: KubeObject | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined;
}

/** Kinds that others refer to when they are admitted come first, and those that restrict others last. */
const RANKS: Readonly<Record<string, number>> = {
  Namespace: 0,
  ServiceAccount: 2,
  Pod: 4,
  LimitRange: 5,
  ResourceQuota: 5,
};

function rankOf({ kind }: SetObject): number {
  return RANKS[kind.kind] ?? (kind.scope === 'Cluster' ? 1 : 3);
}

function ownersFirst(steps: readonly CreateStep[]): readonly CreateStep[] {
  const ranked = steps.toSorted((a, b) => rankOf(a.target) - rankOf(b.target));
  const byUid = new Map(ranked.map((step) => [step.before.metadata.uid, step]));
  const ordered = new Set<CreateStep>();
  const entered = new Set<CreateStep>();
  const visit = (step: CreateStep) => {
    if (entered.has(step)) return;
    entered.add(step);
    for (const { uid } of step.before.metadata.ownerReferences ?? []) {
      const owner = byUid.get(uid);
      if (owner) visit(owner);
    }
    ordered.add(step);
  };
  for (const step of ranked) visit(step);
  return [...ordered];
}
