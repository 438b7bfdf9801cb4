/** The ReplicaSet of the current template: found among existing ones, or created. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import { memoizedPair } from '../../../base/collections/pair-memo.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import type { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { controllerReference } from '../../shared/ownership.ts';
import { templateHash } from '../../shared/pods/template-hash.ts';
import { nextRevision, presentAnnotations } from './annotations.ts';
import { roomForNew } from './scaling.ts';
import { byAge, WorkingSet } from './working-set.ts';

const MAX_NAME_LENGTH = 253;

export interface Sets {
  readonly currentSet: WorkingSet | undefined;
  readonly old: readonly WorkingSet[];
}

/** Finds the current set, the oldest of several with the same template. Everything but its size is updated. */
export function sortOut(deployment: DeepReadonly<Deployment>, sets: readonly DeepReadonly<ReplicaSet>[]): Sets {
  const all = sets.map((set) => new WorkingSet(set)).sort(byAge);
  const currentSet = all.find(({ set }) => sameTemplate(set.spec.template as any, deployment.spec.template));
  const old = all.filter((set) => set !== currentSet);
  if (currentSet && !deployment.metadata.deletionTimestamp) {
    currentSet.annotations = presentAnnotations(
      currentSet.annotations,
      deployment.metadata.annotations,
      revisionAfter(old),
    );
    currentSet.minReadySeconds = deployment.spec.minReadySeconds;
  }
  return { currentSet, old };
}

/** Returns the set to create, as large as allowed at once. */
export function newSet(deployment: DeepReadonly<Deployment>, old: readonly WorkingSet[]): WorkingSet {
  const { metadata, spec, status } = deployment;
  const hash = templateHash(spec.template, status.collisionCount);
  const labels = { ...spec.template.metadata?.labels, [HASH_LABEL]: hash };
  const { selector } = spec;
  const set = {
    metadata: {
      name: `${(metadata.name ?? '').slice(0, MAX_NAME_LENGTH - 1 - hash.length)}-${hash}`,
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

const revisionAfter = (old: readonly WorkingSet[]) => nextRevision(old.map(({ set }) => set));

const HASH_LABEL = 'pod-template-hash';

type Template = DeepReadonly<Deployment['spec']['template']>;

/** Compares templates, which may have megabytes. Every plan compares those of all ReplicaSets. */
export const sameTemplate = memoizedPair((a: Template, b: Template): boolean => {
  return deepEqual(withoutHash(a), withoutHash(b));
});

export function withoutHash(template: Template): Template {
  const { labels } = template.metadata ?? {};
  if (labels?.[HASH_LABEL] === undefined) return template;
  const { [HASH_LABEL]: _, ...rest } = labels;
  return { ...template, metadata: { ...template.metadata, labels: rest } };
}
