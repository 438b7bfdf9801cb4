/** Builds the conditions of a namespace that is being deleted, with Kubernetes' reasons and messages. */
import { isApiError } from '../../../api/errors.ts';
import type { Named } from '../../loop/plan.ts';
import type { Condition } from '../../shared/conditions.ts';
import type { Content, NamespaceContent } from './content.ts';

type EventReport = Omit<Condition, 'lastTransitionTime'>;

/** `failures`: errors of the last deletions. */
export function report(content: NamespaceContent, failures: readonly Error[]): EventReport[] {
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
export function isDeleted({ metadata }: Named): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** A conflict with another writer is not a failure to delete. */
function isFailure(error: Error): boolean {
  return !isApiError(error, 'Conflict', 'NotFound');
}
