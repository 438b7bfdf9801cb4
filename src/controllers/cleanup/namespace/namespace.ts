/** Empties a namespace that is being deleted, says what is left in it, and lets go of it in the end. */
import { deepEqual } from '../../../base/tree.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { type Controller, defineController, type Snapshot } from '../../loop/define.ts';
import {
  type Action,
  deleteCollection,
  type Plan,
  remove,
  requeueAfter,
  requeueOnChange,
  updateStatus,
  updateSubresource,
} from '../../loop/plan.ts';
import { withConditions } from '../../shared/conditions.ts';
import { type Content, contentOf, type NamespaceContent, NOTHING } from './content.ts';
import { isAsked, report } from './report.ts';

/** What keeps a namespace until it is empty. */
const FINALIZER = 'kubernetes';

/** How long to wait before what cannot be listed is listed again, in milliseconds. */
const LOOK_AGAIN = 5000;

export interface NamespaceControllerOptions {
  /** The kinds that are served at this moment; they come and go. */
  readonly kinds: () => Iterable<Kind>;
}

export function namespaceController({ kinds }: NamespaceControllerOptions): Controller {
  return defineController<Namespace, NamespaceContent>({
    name: 'namespace',
    account: 'namespace-controller',
    watches: Namespace,
    observe: async (namespace, { key }, { client, signal }) =>
      isOurs(namespace) ? contentOf(key.name, { client, signal, kinds }) : NOTHING,
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
  const due = nextToGo(observed.contents);
  const deletions = due.flatMap((content) => deletionsOf(content, namespace.metadata.name ?? ''));
  // While deletions are only being asked for there is nothing to say yet, unless they failed before.
  const status = deletions.length > 0 && isKnown && failures.length === 0 ? [] : reported(namespace, world, now);
  const isEmpty = isKnown && due.length === 0;
  return [
    ...status,
    ...deletions,
    ...due.map((content) => requeueOnChange(content.kind, namespace.metadata.name ?? '', content.resourceVersion)),
    ...(isKnown ? [] : [requeueAfter(LOOK_AGAIN)]),
    // A new status is a new version of the namespace, which brings the next plan. So the namespace is looked at once more
    // after a write of ours: whatever was let in before its deletion has been written by then, too.
    ...(isEmpty && status.length === 0 ? [finalize(namespace)] : []),
  ];
}

function isOurs(namespace: DeepReadonly<Namespace> | undefined): boolean {
  if (!namespace?.metadata.deletionTimestamp) return false;
  return namespace.spec.finalizers?.includes(FINALIZER) ?? false;
}

/** Pods first: while they run they need what they were given. */
function nextToGo(contents: readonly Content[]): readonly Content[] {
  const pods = contents.filter(({ kind }) => kind.group === '' && kind.kind === 'Pod');
  return pods.length > 0 ? pods : contents;
}

/** Each object ends as it would by itself, a pod with its grace. What depends on it goes with the namespace anyway. */
function deletionsOf({ kind, objects }: Content, namespace: string): Action[] {
  const options = { propagationPolicy: 'Background' } as const;
  const left = objects.filter((object) => !isAsked(object));
  if (left.length === 0) return [];
  if (!kind.verbs || kind.verbs.includes('deletecollection')) return [deleteCollection(kind, namespace, options)];
  return left.map((object) => remove(kind, object, options));
}

/** The status, when it has changed. */
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
  const status = { ...namespace.status, phase: 'Terminating', conditions };
  return deepEqual(status, namespace.status) ? [] : [updateStatus(Namespace, { ...namespace, status })];
}

function finalize(namespace: DeepReadonly<Namespace>): Action {
  const finalizers = namespace.spec.finalizers?.filter((each) => each !== FINALIZER) ?? [];
  return updateSubresource(Namespace, 'finalize', { ...namespace, spec: { ...namespace.spec, finalizers } });
}
