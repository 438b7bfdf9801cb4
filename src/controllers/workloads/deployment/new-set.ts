/** The ReplicaSet of the present template: found among those that there are, or made. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import type { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { controllerReference } from '../../shared/ownership.ts';
import { templateHash } from '../../shared/pods/template-hash.ts';
import { newestRevision, presentAnnotations } from './annotations.ts';
import { roomForNew } from './rolling-update.ts';
import { HASH_LABEL, sameTemplate } from './same-template.ts';
import { byAge, WorkingSet } from './working-set.ts';

/** The longest name that an object may have. */
const LONGEST_NAME = 253;

export interface Sets {
  /** Of the present template; undefined when there is none. */
  readonly fresh: WorkingSet | undefined;
  readonly old: readonly WorkingSet[];
}

/** Of several with the same template the oldest is meant. It is brought up to date in all but its size. */
export function sortOut(deployment: DeepReadonly<Deployment>, sets: readonly DeepReadonly<ReplicaSet>[]): Sets {
  const all = sets.map((set) => new WorkingSet(set)).sort(byAge);
  const fresh = all.find(({ set }) => sameTemplate(set.spec.template as any, deployment.spec.template));
  const old = all.filter((set) => set !== fresh);
  if (fresh && !deployment.metadata.deletionTimestamp) {
    fresh.annotations = presentAnnotations(fresh.annotations, deployment.metadata.annotations, revisionAfter(old));
    fresh.minReadySeconds = deployment.spec.minReadySeconds;
  }
  return { fresh, old };
}

/** One that is to be created, as large as it may be at once. */
export function newSet(deployment: DeepReadonly<Deployment>, old: readonly WorkingSet[]): WorkingSet {
  const { metadata, spec, status } = deployment;
  const hash = templateHash(spec.template, status.collisionCount);
  const labels = { ...spec.template.metadata?.labels, [HASH_LABEL]: hash };
  const { selector } = spec;
  const set = {
    metadata: {
      name: `${(metadata.name ?? '').slice(0, LONGEST_NAME - 1 - hash.length)}-${hash}`,
      namespace: metadata.namespace,
      labels,
      annotations: presentAnnotations({}, metadata.annotations, revisionAfter(old)),
      ownerReferences: [controllerReference(deployment, Deployment)],
    },
    spec: {
      replicas: 0,
      minReadySeconds: spec.minReadySeconds,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [HASH_LABEL]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
    status: {},
  } as unknown as DeepReadonly<ReplicaSet>;
  const working = new WorkingSet(set, { isMissing: true });
  working.replicas = roomForNew(deployment, undefined, old);
  working.noteSizes(deployment);
  return working;
}

const revisionAfter = (old: readonly WorkingSet[]) => newestRevision(old.map(({ set }) => set)) + 1;
