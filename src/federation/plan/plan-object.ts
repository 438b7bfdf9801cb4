/** The actions that bring a federated object to its members, and its status back. Performs nothing. */

import type { AnyObject, DeepReadonly } from '../../api/object-types.ts';
import { clone, deepEqual } from '../../base/json/tree.ts';
import { parseClusterSelector } from './cluster-selector.ts';
import { distribute } from './distribute.ts';
import type { FederatedKind } from './kinds/federated-kind.ts';
import {
  CLUSTER_SELECTOR,
  DELETE_FROM_MEMBERS,
  FOREGROUND,
  isFederationAnnotation,
  ORPHAN,
  OVERRIDES,
} from './names.ts';
import { parseOverrides } from './overrides.ts';
import { parsePreferences } from './preferences.ts';

/**
 * Health of a member. Only ready members are written to. A member that is away has not answered for a short time, and
 * keeps its share; one that is down has not answered for longer, and others take its share over. Nothing is known of an
 * unknown one yet: until then, no replicas are divided.
 */
export type MemberHealth = 'ready' | 'away' | 'down' | 'unknown';

export interface MemberState {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly health: MemberHealth;
  /** Last known state of the object in the member. */
  readonly object: DeepReadonly<AnyObject> | undefined;
  /** Number of replicas that can run there, when some cannot. */
  readonly capacity?: number | undefined;
  /** Reports whether the object is as after the last write of the same content, although it reads differently. */
  isSettled?(desired: AnyObject): boolean;
}

export type MemberAction =
  | { readonly type: 'create' | 'update'; readonly cluster: string; readonly object: AnyObject }
  | { readonly type: 'delete'; readonly cluster: string; readonly uid: string | undefined };

export interface ObjectPlan {
  readonly actions: readonly MemberAction[];
  /** Why nothing can be planned for some clusters, or for the status; the others do not wait for them. */
  readonly errors?: readonly string[];
  /** The finalizers that the federated object should have; absent: as they are. */
  readonly finalizers?: readonly string[];
  /** The status that the federated object should have; absent: as it is. */
  readonly status?: object;
}

export interface PlanOptions {
  readonly kind: FederatedKind;
  readonly members: readonly MemberState[];
  /** True when an autoscaler in each member sets its replicas. */
  readonly isAutoscaled?: boolean;
}

/** Throws an error that explains an invalid annotation of the object. */
export function planObject(federated: DeepReadonly<AnyObject>, options: PlanOptions): ObjectPlan {
  const { finalizers = [], deletionTimestamp } = federated.metadata;
  if (deletionTimestamp) return planDeletion(federated, options.members);
  // An object that is in a member is deleted there, too: the finalizer comes first.
  if (!finalizers.includes(DELETE_FROM_MEMBERS)) {
    return { actions: [], finalizers: [...finalizers.filter((each) => each !== ORPHAN), DELETE_FROM_MEMBERS, ORPHAN] };
  }
  const placements = placementsOf(federated, options);
  const { status, problem } = gatheredStatus(federated, options);
  const errors = [
    ...placements.flatMap(({ member, error }) => (error ? [`cluster ${member.name}: ${error}`] : [])),
    ...(problem ? [problem] : []),
  ];
  const actions = placements.flatMap(({ action }) => action ?? []);
  const isDelete = ({ type }: MemberAction) => type === 'delete';
  return {
    actions: [...actions.filter(isDelete), ...actions.filter((action) => !isDelete(action))],
    errors: errors.length > 0 ? errors : undefined,
    status,
  };
}

/** Plan for one member. */
export interface Placement {
  readonly member: MemberState;
  readonly isSelected: boolean;
  /** Share of replicas; undefined for a kind without replicas to divide, or when they cannot be divided yet. */
  readonly share?: number | undefined;
  readonly action?: MemberAction | undefined;
  readonly error?: string;
}

/** Returns placements in the order of the members. Throws an error that explains an invalid annotation. */
export function placementsOf(federated: DeepReadonly<AnyObject>, options: PlanOptions): readonly Placement[] {
  const { kind, members } = options;
  const { annotations } = federated.metadata;
  const isSelected = parseClusterSelector(annotations?.[CLUSTER_SELECTOR]);
  const overrides = parseOverrides(annotations?.[OVERRIDES]);
  const selected = members.filter(({ labels }) => isSelected(labels));
  const isUndecided = kind.replicas !== undefined && selected.some(({ health }) => health === 'unknown');
  const shares = isUndecided ? undefined : sharesOf(federated, options, selected);
  let before = 0;
  return members.map((member): Placement => {
    if (!selected.includes(member)) return { member, isSelected: false, action: removal(member) };
    const share = shares?.get(member.name);
    const start = before;
    before += share ?? 0;
    const placed = { member, isSelected: true, share };
    if (isUndecided || !isReady(member)) return placed;
    try {
      const desired = (actual: DeepReadonly<AnyObject> | undefined) =>
        memberObject(federated, {
          kind,
          actual,
          override: (object) => overrides.apply(object, member.name),
          share: share === undefined ? undefined : { replicas: share, before: start },
        });
      return { ...placed, action: writeTo(member, desired, share === 0 && (kind.replicas?.removesEmpty ?? false)) };
    } catch (error) {
      return { ...placed, error: (error as Error).message };
    }
  });

  function writeTo(
    member: MemberState,
    desiredWith: (actual: DeepReadonly<AnyObject> | undefined) => AnyObject,
    isRemoved: boolean,
  ): MemberAction | undefined {
    const { name: cluster, object: actual } = member;
    if (actual?.metadata.deletionTimestamp) return undefined;
    if (isRemoved) return removal(member);
    if (!actual && shares?.get(cluster) === 0) return undefined;
    const object = desiredWith(actual);
    if (!actual) return { type: 'create', cluster, object };
    return isAsDesired(object, actual) || member.isSettled?.(object) ? undefined : { type: 'update', cluster, object };
  }
}

/** Returns replicas by cluster, none for those that are down; undefined for a kind without replicas to divide. */
function sharesOf(
  federated: DeepReadonly<AnyObject>,
  { kind: { replicas }, isAutoscaled }: PlanOptions,
  selected: readonly MemberState[],
): ReadonlyMap<string, number> | undefined {
  if (!replicas) return undefined;
  const { name, namespace, annotations } = federated.metadata;
  const objects = selected.flatMap(({ object }) => object ?? []);
  const isPlaced = replicas.isPlaced?.(federated, objects) ?? false;
  const recipients = selected.filter(({ health, object }) => health !== 'down' && (object || !isPlaced));
  const currentOf = ({ object }: MemberState) => (object ? replicas.of(object) : 0);
  const planned = distribute({
    key: `${namespace}/${name}`,
    replicas: replicas.of(federated),
    preferences: parsePreferences(annotations?.[replicas.annotation]),
    clusters: recipients.map((member) => ({
      name: member.name,
      current: currentOf(member),
      capacity: member.capacity,
    })),
  });
  const shareOf = (member: MemberState) =>
    isAutoscaled && member.object ? currentOf(member) : (planned.get(member.name) ?? 0);
  return new Map(selected.map((member) => [member.name, shareOf(member)]));
}

function planDeletion(federated: DeepReadonly<AnyObject>, members: readonly MemberState[]): ObjectPlan {
  const { finalizers = [] } = federated.metadata;
  if (!finalizers.includes(DELETE_FROM_MEMBERS)) return { actions: [] };
  const isOrphaned = finalizers.includes(ORPHAN);
  const isLeft = members.some((member) => !isReady(member) || isPropagated(member));
  if (!isOrphaned && isLeft) return { actions: members.flatMap((member) => removal(member) ?? []) };
  return { actions: [], finalizers: finalizers.filter((each) => !OWN_FINALIZERS.has(each)) };
}

const OWN_FINALIZERS = new Set([DELETE_FROM_MEMBERS, ORPHAN, FOREGROUND]);

/** Returns the deletion of the object, unless it is being deleted already or was never put there. */
function removal(member: MemberState): MemberAction | undefined {
  const { deletionTimestamp, uid } = member.object?.metadata ?? {};
  if (!isReady(member) || !isPropagated(member) || deletionTimestamp) return undefined;
  return { type: 'delete', cluster: member.name, uid };
}

const isReady = ({ health }: MemberState) => health === 'ready';

const isPropagated = ({ object }: MemberState) => object?.metadata.annotations?.[PROPAGATED] !== undefined;

function gatheredStatus(
  federated: DeepReadonly<AnyObject>,
  { kind, members }: PlanOptions,
): { readonly status?: object; readonly problem?: string } {
  const objects = members.flatMap(({ health, object }) => (health !== 'down' && object ? [object] : []));
  try {
    const status = kind.gather?.(objects, federated);
    return status === undefined || deepEqual(status, federated.status ?? {}) ? {} : { status };
  } catch (error) {
    return { problem: `the status of the members cannot be gathered: ${(error as Error).message}` };
  }
}

/** Marks objects in members that the federation put there: only these are removed when they no longer belong there. */
const PROPAGATED = 'federation.kubernetes.io/propagated';

interface MemberObjectOptions {
  readonly kind: Pick<FederatedKind, 'localize' | 'replicas' | 'isFixedByCreation'>;
  readonly actual: DeepReadonly<AnyObject> | undefined;
  /** Share of the replicas; undefined for a kind without replicas to divide. */
  readonly share?: { readonly replicas: number; readonly before: number } | undefined;
  /** Applies the cluster's differences. */
  readonly override?: (object: AnyObject) => AnyObject;
}

/** Builds the object. Throws an error that explains why the overrides of the cluster cannot be applied. */
function memberObject(federated: DeepReadonly<AnyObject>, options: MemberObjectOptions): AnyObject {
  const { kind, actual, share, override = (object) => object } = options;
  const { metadata, status: _, ...rest } = clone(federated) as AnyObject;
  const { name, namespace, labels } = metadata;
  const own = Object.entries(metadata.annotations ?? {}).filter(([key]) => !isFederationAnnotation(key));
  const annotations = { ...actual?.metadata.annotations, ...Object.fromEntries(own), [PROPAGATED]: 'true' };
  const { labels: _labels, annotations: _annotations, ...kept } = actual?.metadata ?? {};
  const desired = {
    ...rest,
    metadata: { ...kept, name, ...(namespace ? { namespace } : {}), ...(labels ? { labels } : {}), annotations },
  } as AnyObject;
  if (share) kind.replicas?.set(desired, share.replicas, { actual, before: share.before });
  kind.localize?.(desired, actual);
  return kind.isFixedByCreation && actual ? desired : override(desired);
}

/** Fields that a member and the federation each have their own of. */
const OWN_FIELDS = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** Reports whether the member has the desired labels, annotations and everything besides metadata and status. */
function isAsDesired(desired: DeepReadonly<AnyObject>, actual: DeepReadonly<AnyObject>): boolean {
  const { labels = {}, annotations = {} } = desired.metadata;
  if (!deepEqual(labels, actual.metadata.labels ?? {})) return false;
  if (!deepEqual(annotations, actual.metadata.annotations ?? {})) return false;
  const fields = new Set([...Object.keys(desired), ...Object.keys(actual)].filter((field) => !OWN_FIELDS.has(field)));
  return [...fields].every((field) => deepEqual(desired[field] ?? {}, actual[field] ?? {}));
}
