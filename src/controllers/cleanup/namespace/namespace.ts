/** Empties a namespace that is being deleted, reports what remains in it, and finalizes it. */

import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { type Controller, defineController, type Snapshot } from '../../loop/define.ts';
import {
  type Action,
  changeStatus,
  deleteCollection,
  type Named,
  type Plan,
  remove,
  requeueAfter,
  requeueOnChange,
  updateSubresource,
} from '../../loop/plan.ts';
import { AggregatedKinds, type AggregatedOptions, hasVerbs, type KindsOptions } from '../../shared/aggregated-kinds.ts';
import { type Condition, withConditions } from '../../shared/conditions.ts';
import { type Content, contentOf, type NamespaceContent, NO_CONTENT } from './content.ts';

/** Holds a namespace until it is empty. */
const FINALIZER = 'kubernetes';

/** Delay before kinds that could not be listed or watched are checked again. */
const RETRY_MS = 5000;

export interface NamespaceControllerOptions extends AggregatedOptions, KindsOptions {
  /** Describes objects in a namespace of kinds that the server does not know; such a namespace is not finalized. */
  readonly unknownContent?: ((namespace: string) => readonly string[]) | undefined;
}

export function namespaceController({ kinds, unknownContent, ...options }: NamespaceControllerOptions): Controller {
  const aggregated = new AggregatedKinds(options);
  return defineController<Namespace, NamespaceContent>({
    name: 'namespace',
    account: 'namespace-controller',
    watches: Namespace,
    observe: async (namespace, { key }, { client, signal }) =>
      isOurs(namespace) ? contentOf(key.name, { client, signal, kinds, unknownContent, aggregated }) : NO_CONTENT,
    plan: planNamespace,
  });
}

export function planNamespace(
  namespace: DeepReadonly<Namespace> | undefined,
  world: Pick<Snapshot<NamespaceContent>, 'observed' | 'failures'>,
  now: Date,
): Plan {
  if (!namespace || !isOurs(namespace)) return [];
  const { observed, failures } = world;
  const isKnown = observed.undiscovered === undefined && observed.unlisted.length === 0;
  const due = nextToDelete(observed.contents);
  const deletions = due.flatMap((content) => deletionsOf(content, namespace.metadata.name ?? ''));
  // While deletions are only being requested there is nothing to report, unless some failed before.
  const status = deletions.length > 0 && isKnown && failures.length === 0 ? [] : reported(namespace, world, now);
  const isEmpty = isKnown && due.length === 0;
  return [
    ...status,
    ...deletions,
    ...due.map((content) => requeueFor(content, namespace.metadata.name ?? '')),
    ...(isKnown ? [] : [requeueAfter(RETRY_MS)]),
    // Writing a new status creates a new version of the namespace, which triggers the next plan. The namespace is
    // therefore read once more after our own write: everything admitted before its deletion has been written by then.
    ...(isEmpty && status.length === 0 ? [finalize(namespace)] : []),
  ];
}

/** Schedules another look at kinds that cannot be watched. */
function requeueFor({ kind, resourceVersion }: Content, namespace: string): Action {
  if (!resourceVersion || !hasVerbs(kind, 'watch')) return requeueAfter(RETRY_MS);
  return requeueOnChange(kind, namespace, resourceVersion);
}

function isOurs(namespace: DeepReadonly<Namespace> | undefined): boolean {
  if (!namespace?.metadata.deletionTimestamp) return false;
  return namespace.spec.finalizers?.includes(FINALIZER) ?? false;
}

/** Pods first: they need their config and secrets while they run. */
function nextToDelete(contents: readonly Content[]): readonly Content[] {
  const pods = contents.filter(({ kind }) => kind.group === '' && kind.kind === 'Pod');
  return pods.length > 0 ? pods : contents;
}

/** Deletes each object in the usual way, a pod with its grace period. Dependents go with the namespace anyway. */
function deletionsOf({ kind, objects }: Content, namespace: string): Action[] {
  const options = { propagationPolicy: 'Background' } as const;
  const left = objects.filter((object) => !isDeleted(object));
  if (left.length === 0) return [];
  if (hasVerbs(kind, 'deletecollection')) return [deleteCollection(kind, namespace, options)];
  return left.map((object) => remove(kind, object, options));
}

/** Writes the status when it has changed. */
function reported(
  namespace: DeepReadonly<Namespace>,
  { observed, failures }: Pick<Snapshot<NamespaceContent>, 'observed' | 'failures'>,
  now: Date,
): Action[] {
  const conditions = withConditions(
    namespace.status.conditions,
    report(
      observed,
      failures.map(({ error }) => error),
    ),
    now,
  );
  return changeStatus(Namespace, namespace, { ...namespace.status, phase: 'Terminating', conditions });
}

function finalize(namespace: DeepReadonly<Namespace>): Action {
  const finalizers = namespace.spec.finalizers?.filter((each) => each !== FINALIZER) ?? [];
  return updateSubresource(Namespace, 'finalize', { ...namespace, spec: { ...namespace.spec, finalizers } });
}

type EventReport = Omit<Condition, 'lastTransitionTime'>;

/** `failures`: errors of the last deletions. */
function report(content: NamespaceContent, failures: readonly Error[]): EventReport[] {
  const asked = content.contents.map((each) => ({ ...each, objects: each.objects.filter(isDeleted) }));
  const left = asked.filter(({ objects }) => objects.length > 0);
  const errors = [...content.unlisted, ...failures.filter(isFailure).map(({ message }) => message)];
  return [
    content.undiscovered === undefined
      ? good('NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered')
      : bad('NamespaceDeletionDiscoveryFailure', 'DiscoveryFailed', content.undiscovered),
    good(
      'NamespaceDeletionGroupVersionParsingFailure',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    errors.length === 0
      ? good(
          'NamespaceDeletionContentFailure',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        )
      : bad(
          'NamespaceDeletionContentFailure',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${errors.length} remaining: ${listed(errors)}`,
        ),
    remaining(left),
    finalizers(left.flatMap(({ objects }) => objects)),
  ];
}

function remaining(left: readonly Content[]): EventReport {
  const type = 'NamespaceContentRemaining';
  if (left.length === 0) return good(type, 'ContentRemoved', 'All content successfully removed');
  // The dot is there for the core group, too.
  const text = left.map(({ kind, objects }) => `${kind.plural}.${kind.group} has ${instances(objects.length)}`);
  return bad(type, 'SomeResourcesRemain', `Some resources are remaining: ${listed(text)}`);
}

function finalizers(objects: readonly Named[]): EventReport {
  const type = 'NamespaceFinalizersRemaining';
  const counts = new Map<string, number>();
  for (const finalizer of objects.flatMap(({ metadata }) => metadata.finalizers ?? [])) {
    counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  }
  if (counts.size === 0) return good(type, 'ContentHasNoFinalizers', 'All content-preserving finalizers finished');
  const text = [...counts].map(([finalizer, count]) => `${finalizer} in ${instances(count)}`);
  const message = `Some content in the namespace has finalizers remaining: ${listed(text)}`;
  return bad(type, 'SomeFinalizersRemain', message);
}

/** The longest message: clients name finalizers and kinds as they like, and as many. */
const MAX_MESSAGE_LENGTH = 32_000;

function listed(texts: string[]): string {
  const all = texts.sort().join(', ');
  return all.length <= MAX_MESSAGE_LENGTH ? all : `${all.slice(0, MAX_MESSAGE_LENGTH)} ...`;
}

const instances = (count: number) => `${count} resource instances`;
const good = (type: string, reason: string, message: string): EventReport => ({
  type,
  status: 'False',
  reason,
  message,
});
const bad = (type: string, reason: string, message: string): EventReport => ({ type, status: 'True', reason, message });

/** Reports whether the deletion of the namespace was requested. */
function isDeleted({ metadata }: Named): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** A conflict with another writer is not a failure to delete. */
function isFailure(error: Error): boolean {
  return !isApiError(error, 'Conflict', 'NotFound');
}
