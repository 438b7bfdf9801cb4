/** Manages the pods of a Deployment through ReplicaSets, one for each template, and rolls out the current one. */
import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { controllerOf, keyOf } from '../../../client/informer/object-cache.ts';
import { UNLIMITED } from '../../../kinds/conversion/unlimited.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { defineController, type Failure, type Listers, related, type Snapshot } from '../../loop/define.ts';
import { type Action, type Plan, remove, updateStatus } from '../../loop/plan.ts';
import { claim, compiledSelector, type Ownership, observeAdoption, orphansOf } from '../../shared/ownership.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';
import { compareRevisions, REVISION } from './annotations.ts';
import { newSet, sortOut } from './new-set.ts';
import {
  type Conditions,
  countsOf,
  deadlineCheck,
  hasDeadline,
  isComplete,
  PROGRESSING,
  pausedConditions,
  rolloutConditions,
  said,
  withCondition,
} from './progress.ts';
import { rollBack, rollbackOf } from './rollback.ts';
import { isScaled, rollUpdate, scale } from './scaling.ts';
import { byAge, CREATE_ERROR, createError, type WorkingSet } from './working-set.ts';

type SeenDeployment = DeepReadonly<Deployment>;
type World = Pick<Snapshot<boolean>, 'of' | 'observed' | 'failures'>;

const replicaSets: Ownership<Deployment, ReplicaSet> = {
  owner: Deployment,
  kind: ReplicaSet,
  selector: ({ spec }) => compiledSelector(spec.selector),
};

export const deploymentController = defineController<Deployment, boolean>({
  name: 'deployment',
  account: 'deployment-controller',
  watches: Deployment,
  owns: [ReplicaSet],
  also: [orphansOf(replicaSets), related(Pod, recreated)],
  observe: (deployment, world, tools) => observeAdoption(deployment, replicaSets, { world, ...tools }),
  plan: planDeployment,
});

/** Wakes the Deployment when its last old pod is gone. Only the strategy Recreate waits for pods themselves. */
function recreated(pod: DeepReadonly<Pod>, { of }: Listers): readonly string[] {
  const { namespace = '' } = pod.metadata;
  const set = of(ReplicaSet).get(controllerOf(pod)?.name ?? '', namespace);
  const deployment = set && of(Deployment).get(controllerOf(set)?.name ?? '', namespace);
  return deployment?.spec.strategy.type === 'Recreate' ? [keyOf(deployment)] : [];
}

/** `world.observed`: whether orphans may be adopted. */
export function planDeployment(deployment: SeenDeployment | undefined, world: World, time: Date): Plan {
  if (!deployment) return [];
  const claimed = claim(deployment, replicaSets, { world, mayAdopt: world.observed });
  // Adopted or released sets have new versions, which the next plan sees.
  if (claimed.actions.length > 0) return claimed.actions;
  return new Rollout(deployment, claimed.mine, { world, now: time.getTime() }).plan();
}

class Rollout {
  readonly #world: World;
  readonly #now: number;
  readonly #old: readonly WorkingSet[];
  #currentSet: WorkingSet | undefined;
  #conditions: Conditions;

  constructor(
    private readonly deployment: SeenDeployment,
    sets: readonly DeepReadonly<ReplicaSet>[],
    { world, now }: { readonly world: World; readonly now: number },
  ) {
    this.#world = world;
    this.#now = now;
    const { currentSet, old } = sortOut(deployment, sets);
    this.#currentSet = currentSet;
    this.#old = old;
    this.#conditions = deployment.status.conditions ?? [];
  }

  plan(): readonly Action[] {
    const deployment = this.deployment;
    const { paused, strategy } = deployment.spec;
    if (deployment.metadata.deletionTimestamp) return this.#counts();
    this.#conditions = pausedConditions(deployment, this.#conditions, this.#now);
    if (this.#currentSet) this.#noteFound(this.#currentSet);
    const rollback = rollbackOf(deployment);
    if (paused) return this.#resized({ cleanUp: rollback === undefined });
    if (rollback !== undefined) return this.#rollback(rollback);
    if (isScaled(deployment, this.#sets)) return this.#resized({ cleanUp: false });
    return strategy.type === 'Recreate' ? this.#recreate() : this.#rolling();
  }

  get #sets(): readonly WorkingSet[] {
    return this.#currentSet ? [...this.#old, this.#currentSet] : this.#old;
  }

  /** Scales without continuing a rollout. */
  #resized(options: { readonly cleanUp: boolean }): readonly Action[] {
    scale(this.deployment, this.#currentSet, this.#old);
    return [...this.#changes(), ...(options.cleanUp ? cleanUp(this.deployment, this.#old) : []), ...this.#counts()];
  }

  #rolling(): readonly Action[] {
    const missing = this.#create();
    if (missing) return missing;
    const moved = rollUpdate(this.deployment, this.#currentSet as WorkingSet, this.#old);
    return [...this.#changes(), ...(moved ? [] : this.#cleanUp()), ...this.#rolloutStatus()];
  }

  /** First all old pods end, then new ones start. */
  #recreate(): readonly Action[] {
    const active = this.#old.filter(({ isActive }) => isActive);
    for (const set of active) set.scaleTo(0, this.deployment);
    if (active.length > 0 || this.#oldPodsRun()) return [...this.#changes(), ...this.#rolloutStatus()];
    const missing = this.#create();
    if (missing) return missing;
    this.#currentSet?.scaleTo(this.deployment.spec.replicas, this.deployment);
    return [...this.#changes(), ...this.#cleanUp(), ...this.#rolloutStatus()];
  }

  #rollback(revision: bigint): readonly Action[] {
    const missing = this.#create();
    if (missing) return missing;
    return [...this.#changes(), ...rollBack(this.deployment, revision, this.#sets)];
  }

  #oldPodsRun(): boolean {
    const { of } = this.#world;
    return this.#old.some(
      ({ set }) =>
        (set.status.replicas ?? 0) > 0 ||
        of(Pod)
          .controlledBy(set.metadata.uid ?? '')
          .some((pod) => !isTerminal(pod)),
    );
  }

  /** Creates the new set if there is none. The returned actions are all that can be done for now. */
  #create(): readonly Action[] | undefined {
    if (this.#currentSet) return undefined;
    const deployment = this.deployment;
    const currentSet = newSet(deployment, this.#old);
    const { namespace } = deployment.metadata;
    if (this.#world.of(ReplicaSet).get(currentSet.name, namespace)) return [this.#collision()];
    const failure = createFailure(this.#world.failures);
    if (failure && hasDeadline(deployment)) {
      const condition = said(PROGRESSING, 'False', CREATE_ERROR, createError(currentSet.name, failure.error.message));
      this.#conditions = withCondition(this.#conditions, condition, this.#now);
      return [...this.#counts(), ...currentSet.actions(deployment)];
    }
    this.#currentSet = currentSet;
    if (hasDeadline(deployment)) {
      const message = `Created new replica set "${currentSet.name}"`;
      const condition = said(PROGRESSING, 'True', 'NewReplicaSetCreated', message);
      this.#conditions = withCondition(this.#conditions, condition, this.#now);
    }
    return undefined;
  }

  /** The name of the new set is taken: the next hash differs. */
  #collision(): Action {
    const { status } = this.deployment;
    return this.#write({ ...status, collisionCount: (status.collisionCount ?? 0) + 1 });
  }

  #noteFound(currentSet: WorkingSet): void {
    if (!hasDeadline(this.deployment) || this.#conditions.some(({ type }) => type === PROGRESSING)) return;
    const message = `Found new replica set "${currentSet.name}"`;
    const condition = said(PROGRESSING, 'True', 'FoundNewReplicaSet', message);
    this.#conditions = withCondition(this.#conditions, condition, this.#now);
  }

  /** The new set first, so that it exists before old ones shrink. */
  #changes(): readonly Action[] {
    const ordered = this.#currentSet ? [this.#currentSet, ...this.#old] : this.#old;
    return ordered.flatMap((set) => set.actions(this.deployment));
  }

  #cleanUp(): readonly Action[] {
    return isComplete(this.deployment, this.deployment.status) ? cleanUp(this.deployment, this.#old) : [];
  }

  #counts(): readonly Action[] {
    const input = { sets: this.#sets, currentSet: this.#currentSet, conditions: this.#conditions, now: this.#now };
    return this.#changed(countsOf(this.deployment, input));
  }

  #rolloutStatus(): readonly Action[] {
    const input = { sets: this.#sets, currentSet: this.#currentSet, conditions: this.#conditions, now: this.#now };
    const counts = countsOf(this.deployment, input);
    const status = { ...counts, conditions: [...rolloutConditions(this.deployment, counts, input)] };
    return [...this.#changed(status), ...deadlineCheck(this.deployment, status, this.#now)];
  }

  #changed(status: SeenDeployment['status']): readonly Action[] {
    const { metadata, status: old } = this.deployment;
    const isSame = deepEqual(status, old) && this.#annotations[REVISION] === metadata.annotations?.[REVISION];
    return isSame ? [] : [this.#write(status)];
  }

  #write(status: SeenDeployment['status']): Action {
    const metadata = { ...this.deployment.metadata, annotations: this.#annotations };
    return updateStatus(Deployment, { ...this.deployment, metadata, status } as unknown as Draft<Deployment>);
  }

  /** The Deployment's annotations, with the revision of its new set. */
  get #annotations(): Readonly<Record<string, string>> {
    const { annotations = {} } = this.deployment.metadata;
    const revision = this.#currentSet?.annotations[REVISION];
    return revision === undefined ? annotations : { ...annotations, [REVISION]: revision };
  }
}

/** Returns the failure of a create, unless the set exists already: then the cache lags or the name collides. */
function createFailure(failures: readonly Failure[]): Failure | undefined {
  return failures.find(
    ({ action, error }) =>
      action?.type === 'create' && action.kind === ReplicaSet && !isApiError(error, 'AlreadyExists'),
  );
}

/** Deletes the oldest revisions beyond the limit that have no pods left. */
function cleanUp({ spec }: DeepReadonly<Deployment>, old: readonly WorkingSet[]): readonly Action[] {
  const { revisionHistoryLimit: limit = UNLIMITED } = spec;
  if (limit === UNLIMITED) return [];
  const kept = old.filter(({ set }) => !set.metadata.deletionTimestamp);
  return kept
    .sort((a, b) => compareRevisions(a.set, b.set) || byAge(a, b))
    .slice(0, Math.max(0, kept.length - limit))
    .filter(isEmpty)
    .map(({ set }) => remove(ReplicaSet, set));
}

function isEmpty({ set, replicas }: WorkingSet): boolean {
  const { metadata, spec, status } = set;
  const isObserved = (metadata.generation ?? 0) <= (status.observedGeneration ?? 0);
  return replicas === 0 && spec.replicas === 0 && (status.replicas ?? 0) === 0 && isObserved;
}
