/** The actions that bring a federated object to its members, and its status back. Performs nothing. */
import { deepEqual } from '../../base/tree.ts';
import type { AnyObject, DeepReadonly } from '../../client/object-types.ts';
import { parseClusterSelector } from './cluster-selector.ts';
import { distribute } from './distribute.ts';
import type { FederatedKind } from './federated-kind.ts';
import { isAsDesired, memberObject, PROPAGATED } from './member-object.ts';
import { CLUSTER_SELECTOR, DELETE_FROM_MEMBERS, FOREGROUND, ORPHAN } from './names.ts';
import { parsePreferences } from './preferences.ts';

/**
 * Whether a member answers. Only those that are ready are written to. One that is away has not answered for a short time, and
 * keeps its share; one that is down has not for longer, and others take its share over. Of an unknown one, nothing is known
 * yet: until then, no replicas are divided.
 */
export type MemberHealth = 'ready' | 'away' | 'down' | 'unknown';

export interface MemberState {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly health: MemberHealth;
  /** Its last known state in the member. */
  readonly object: DeepReadonly<AnyObject> | undefined;
  /** How many replicas can run there, when some cannot. */
  readonly capacity?: number | undefined;
  /** Whether the object is as it was after the last write of the same content, although it reads differently. */
  isSettled?(desired: AnyObject): boolean;
}

export type MemberAction =
  | { readonly type: 'create' | 'update'; readonly cluster: string; readonly object: AnyObject }
  | { readonly type: 'delete'; readonly cluster: string; readonly uid: string | undefined };

export interface ObjectPlan {
  readonly actions: readonly MemberAction[];
  /** The finalizers that the federated object should have; absent: as they are. */
  readonly finalizers?: readonly string[];
  /** The status that the federated object should have; absent: as it is. */
  readonly status?: object;
}

export interface PlanOptions {
  readonly kind: FederatedKind;
  readonly members: readonly MemberState[];
  /** Whether an autoscaler in each member sets its replicas. */
  readonly isAutoscaled?: boolean;
}

/** Throws an error that says what is wrong with an annotation of the object. */
export function planObject(federated: DeepReadonly<AnyObject>, options: PlanOptions): ObjectPlan {
  const { finalizers = [], deletionTimestamp } = federated.metadata;
  if (deletionTimestamp) return planDeletion(federated, options.members);
  // An object that is in a member is deleted there, too: the finalizer comes first.
  if (!finalizers.includes(DELETE_FROM_MEMBERS)) {
    return { actions: [], finalizers: [...finalizers.filter((each) => each !== ORPHAN), DELETE_FROM_MEMBERS, ORPHAN] };
  }
  const actions = planMembers(federated, options);
  const status = gatheredStatus(federated, options);
  return { actions, ...(status ? { status } : {}) };
}

function planMembers(federated: DeepReadonly<AnyObject>, options: PlanOptions): readonly MemberAction[] {
  const { kind, members } = options;
  const isSelected = parseClusterSelector(federated.metadata.annotations?.[CLUSTER_SELECTOR]);
  const selected = members.filter(({ labels }) => isSelected(labels));
  const removed = members.filter((member) => !selected.includes(member)).flatMap(removal);
  if (kind.replicas && selected.some(({ health }) => health === 'unknown')) return removed;
  const shares = sharesOf(
    federated,
    options,
    selected.filter(({ health }) => health !== 'down'),
  );
  const written = selected.filter(isReady).flatMap((member): MemberAction[] => {
    const { name: cluster, object: actual } = member;
    if (actual?.metadata.deletionTimestamp) return [];
    const share = shares?.get(cluster);
    if (!actual && share === 0) return [];
    const desired = memberObject(federated, kind, actual, share);
    if (!actual) return [{ type: 'create', cluster, object: desired }];
    if (isAsDesired(desired, actual) || member.isSettled?.(desired)) return [];
    return [{ type: 'update', cluster, object: desired }];
  });
  return [...removed, ...written];
}

/** Replicas by cluster; undefined for a kind that has none to divide. */
function sharesOf(
  federated: DeepReadonly<AnyObject>,
  { kind: { replicas }, isAutoscaled }: PlanOptions,
  selected: readonly MemberState[],
): ReadonlyMap<string, number> | undefined {
  if (!replicas) return undefined;
  const { name, namespace, annotations } = federated.metadata;
  const currentOf = ({ object }: MemberState) => (object ? replicas.of(object) : 0);
  const planned = distribute({
    key: `${namespace}/${name}`,
    replicas: replicas.of(federated),
    preferences: parsePreferences(annotations?.[replicas.annotation]),
    clusters: selected.map((member) => ({
      ...{ name: member.name, current: currentOf(member) },
      ...(member.capacity === undefined ? {} : { capacity: member.capacity }),
    })),
  });
  if (!isAutoscaled) return planned;
  return new Map(
    selected.map((member) => [member.name, member.object ? currentOf(member) : planned.get(member.name)!]),
  );
}

function planDeletion(federated: DeepReadonly<AnyObject>, members: readonly MemberState[]): ObjectPlan {
  const { finalizers = [] } = federated.metadata;
  if (!finalizers.includes(DELETE_FROM_MEMBERS)) return { actions: [] };
  const isOrphaned = finalizers.includes(ORPHAN);
  const isLeft = members.some((member) => !isReady(member) || isPropagated(member));
  if (!isOrphaned && isLeft) return { actions: members.flatMap(removal) };
  return { actions: [], finalizers: finalizers.filter((each) => !OWN_FINALIZERS.has(each)) };
}

const OWN_FINALIZERS = new Set([DELETE_FROM_MEMBERS, ORPHAN, FOREGROUND]);

/** Nothing when the object is being deleted already, or was never put there. */
function removal(member: MemberState): MemberAction[] {
  const { deletionTimestamp, uid } = member.object?.metadata ?? {};
  if (!isReady(member) || !isPropagated(member) || deletionTimestamp) return [];
  return [{ type: 'delete', cluster: member.name, uid }];
}

const isReady = ({ health }: MemberState) => health === 'ready';

/** Whether the federation put the object there. */
const isPropagated = ({ object }: MemberState) => object?.metadata.annotations?.[PROPAGATED] !== undefined;

function gatheredStatus(federated: DeepReadonly<AnyObject>, { kind, members }: PlanOptions): object | undefined {
  const objects = members.flatMap(({ health, object }) => (health !== 'down' && object ? [object] : []));
  const status = kind.gather?.(objects, federated);
  return status === undefined || deepEqual(status, federated.status ?? {}) ? undefined : status;
}
