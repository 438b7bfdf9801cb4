/** ReplicaSet while a plan is made: its current state, and the planned one. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { type IntOrPercent, magnitude } from '../../../kinds/shapes/meta/int-or-percent.ts';
import { type Action, create, event, eventContent, update } from '../../loop/plan.ts';
import { olderFirst } from '../../shared/ownership.ts';
import { type Annotations, sizeAnnotations } from './annotations.ts';

export class WorkingSet {
  readonly isMissing: boolean;
  replicas: number;
  annotations: Annotations;
  minReadySeconds: number | undefined;

  constructor(
    /** ReplicaSet as it is, or as it is to be created. */
    readonly set: DeepReadonly<ReplicaSet>,
    { isMissing = false } = {},
  ) {
    this.isMissing = isMissing;
    this.replicas = set.spec.replicas;
    this.annotations = set.metadata.annotations ?? {};
    this.minReadySeconds = set.spec.minReadySeconds;
  }

  get name(): string {
    return this.set.metadata.name ?? '';
  }

  get isActive(): boolean {
    return this.replicas > 0;
  }

  /**
   * Number of pods that are certainly available at its size: the status may not reflect yet that it was scaled down.
   * Unready pods go first, but any of the ready ones may go.
   */
  get available(): number {
    if (this.#isUnclear) return 0;
    const { readyReplicas = 0, availableReplicas = 0 } = this.set.status;
    return Math.max(0, availableReplicas - Math.max(0, readyReplicas - this.replicas));
  }

  /** Number of pods it can lose without losing an available one. */
  get removable(): number {
    if (this.#isUnclear) return 0;
    return this.available === 0 ? this.replicas : Math.max(0, this.replicas - (this.set.status.readyReplicas ?? 0));
  }

  /**
   * True when it was scaled more than once since its status was written. After one change the status still tells what
   * remains; but a set that was scaled down and up again has new pods in place of those in the status.
   */
  get #isUnclear(): boolean {
    const { metadata, status } = this.set;
    return (metadata.generation ?? 0) - (status.observedGeneration ?? 0) > 1;
  }

  /** Returns whether that changes its size. */
  scaleTo(size: number, deployment: DeepReadonly<Deployment>): boolean {
    if (size === this.replicas) return false;
    this.replicas = size;
    this.noteSizes(deployment);
    return true;
  }

  noteSizes(deployment: DeepReadonly<Deployment>): void {
    const { replicas } = deployment.spec;
    this.annotations = {
      ...this.annotations,
      ...sizeAnnotations(replicas, replicas + updateLimitsOf(deployment).maxSurge),
    };
  }

  /** The actions that bring it about. */
  actions(deployment: DeepReadonly<Deployment>): readonly Action[] {
    return this.isMissing ? [this.#create(deployment)] : this.#update(deployment);
  }

  #create(deployment: DeepReadonly<Deployment>): Action {
    const { name, replicas } = this;
    return create(ReplicaSet, this.#object(), {
      about: deployment,
      done:
        replicas > 0
          ? () => eventContent('Normal', 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to ${replicas}`)
          : undefined,
      failed: ({ message }) => eventContent('Warning', CREATE_ERROR, createError(name, message)),
    });
  }

  #update(deployment: DeepReadonly<Deployment>): readonly Action[] {
    const { set, replicas, name } = this;
    const before = set.spec.replicas;
    const isSame =
      before === replicas &&
      set.spec.minReadySeconds === this.minReadySeconds &&
      deepEqual(set.metadata.annotations ?? {}, this.annotations);
    if (isSame) return [];
    const message = `Scaled ${before < replicas ? 'up' : 'down'} replica set ${name} from ${before} to ${replicas}`;
    return [
      update(ReplicaSet, this.#object()),
      ...(before === replicas ? [] : [event(deployment, 'Normal', 'ScalingReplicaSet', message)]),
    ];
  }

  #object(): Draft<ReplicaSet> {
    const { set, replicas, minReadySeconds, annotations } = this;
    return {
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, replicas, minReadySeconds },
    } as unknown as Draft<ReplicaSet>;
  }
}

export const CREATE_ERROR = 'ReplicaSetCreateError';

export const createError = (name: string, message: string) => `Failed to create new replica set "${name}": ${message}`;

export const byAge = (a: WorkingSet, b: WorkingSet) => olderFirst(a.set, b.set);

export const sum = (sets: readonly WorkingSet[], of: (set: WorkingSet) => number): number =>
  sets.reduce((total, set) => total + of(set), 0);

interface UpdateLimits {
  /** Number of pods allowed above the desired number. */
  readonly maxSurge: number;
  /** Number of desired pods that may be missing. */
  readonly maxUnavailable: number;
}

/** Rounds percentages up for the surge and down for unavailable pods. */
export function updateLimitsOf({ spec }: DeepReadonly<Deployment>): UpdateLimits {
  const { replicas, strategy } = spec;
  if (strategy.type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 0 } = strategy.rollingUpdate ?? {};
  const surplus = share(maxSurge, replicas, Math.ceil);
  const missing = share(maxUnavailable, replicas, Math.floor);
  // With both at zero, it would never proceed.
  const atLeast = surplus === 0 && missing === 0 ? 1 : missing;
  return { maxSurge: surplus, maxUnavailable: Math.min(atLeast, replicas) };
}

function share(value: IntOrPercent, of: number, round: (share: number) => number): number {
  return typeof value === 'number' ? value : round((magnitude(value) * of) / 100);
}
