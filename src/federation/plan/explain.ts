/** Explains for users where a federated object is and why: the plan for each member. */
import type { AnyObject, DeepReadonly } from '../../api/object-types.ts';
import { OVERRIDES } from './names.ts';
import { parseOverrides } from './overrides.ts';
import { type Placement, type PlanOptions, placementsOf } from './plan-object.ts';
import { parsePreferences, preferenceFor } from './preferences.ts';

export interface Explanation {
  readonly cluster: string;
  /** State in one or two words. */
  readonly state: string;
  /** Desired replicas; undefined for a kind without replicas to divide. */
  readonly desired: number | undefined;
  /** Replicas that the object in the cluster asks for, and those that are ready there. */
  readonly actual: number | undefined;
  readonly ready: number | undefined;
  /** Number of operations that change the object for this cluster. */
  readonly overrides: number;
  readonly why: string;
}

/** Throws an error that explains an invalid annotation of the object. */
export function explain(federated: DeepReadonly<AnyObject>, options: PlanOptions): readonly Explanation[] {
  const overrides = parseOverrides(federated.metadata.annotations?.[OVERRIDES]);
  return placementsOf(federated, options).map((placement) => {
    const { member, share } = placement;
    const { replicas } = options.kind;
    return {
      cluster: member.name,
      state: stateOf(placement, options),
      why: whyOf(placement, federated, options),
      desired: replicas ? share : undefined,
      actual: replicas && member.object ? replicas.of(member.object) : undefined,
      ready: readyIn(member.object),
      overrides: overrides.countFor(member.name),
    };
  });
}

function stateOf({ member, isSelected, action, error, share }: Placement, { kind }: PlanOptions): string {
  if (member.health !== 'ready') return member.object ? 'unreachable' : 'unknown';
  if (error !== undefined) return 'failed';
  if (action?.type === 'create') return 'missing';
  if (action?.type === 'update') return 'differs';
  if (action?.type === 'delete') return 'leaving';
  if (!member.object) return 'absent';
  return isSelected && !(kind.replicas?.removesEmpty && share === 0) ? 'in sync' : 'foreign';
}

function whyOf(placement: Placement, federated: DeepReadonly<AnyObject>, { kind, isAutoscaled }: PlanOptions): string {
  const { member, isSelected, share, error } = placement;
  if (error !== undefined) return error;
  if (member.health !== 'ready') return 'the cluster does not answer: others have its replicas';
  if (!isSelected) return 'the cluster selector does not select it';
  if (!kind.replicas) return 'every selected cluster has it';
  if (isAutoscaled) return 'an autoscaler sets its replicas';
  const preferences = parsePreferences(federated.metadata.annotations?.[kind.replicas.annotation]);
  const preference = preferenceFor(preferences, member.name);
  if (!preference) return 'the preferences do not name it';
  const { weight, minReplicas, maxReplicas } = preference;
  const reasons = [
    `weight ${weight}`,
    ...(minReplicas > 0 ? [`at least ${minReplicas}`] : []),
    ...(maxReplicas === undefined ? [] : [`at most ${maxReplicas}`]),
    ...(member.capacity === undefined ? [] : [`room for ${member.capacity}`]),
    ...(share === undefined ? ['waiting until every cluster is known'] : []),
  ];
  return reasons.join(', ');
}

/** Returns the ready replicas under any of the names that kinds use; undefined when the status has none. */
function readyIn(object: DeepReadonly<AnyObject> | undefined): number | undefined {
  const { readyReplicas, numberReady, ready, replicas } = object?.status ?? {};
  const found = [readyReplicas, numberReady, ready].find((each) => typeof each === 'number');
  return found ?? (typeof replicas === 'number' ? 0 : undefined);
}
