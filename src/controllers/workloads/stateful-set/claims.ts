/** The storage of each pod: claims from the set's templates, named after the pod, that outlive it. */
import type { Draft } from '../../../api/object-types.ts';
import type { SeenClaim } from '../../../api/seen-objects.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import type { Listers } from '../../loop/define.ts';
import { type Action, create, event, eventContent, update } from '../../loop/plan.ts';
import { parentOf, podName, type SeenSet } from './identity.ts';
import { type ClaimContext, desiredOwners, isOwnedByEarlierPod, ownersOnCreate } from './retention.ts';

type ClaimTemplate = NonNullable<SeenSet['spec']['volumeClaimTemplates']>[number];

/** The claims of one ordinal, as they are and as they should be. */
export interface Claims {
  /** Creates missing claims. */
  readonly missing: readonly Action[];
  /** Sets their owners by the retention policy. */
  readonly owners: readonly Action[];
  /** The name of a claim that is being deleted, so that no pod can use it. */
  readonly leaving: string | undefined;
  /** True when a claim belongs to an earlier pod, and will be deleted with it. */
  readonly isStale: boolean;
}

export function claimsOf(set: SeenSet, context: ClaimContext, { of }: Listers): Claims {
  const { namespace } = set.metadata;
  const templates = set.spec.volumeClaimTemplates ?? [];
  const found = templates.map((template) =>
    of(PersistentVolumeClaim).get(claimName(set, template, context), namespace),
  );
  const present = found.filter((claim) => claim !== undefined);
  return {
    missing: templates.flatMap((template, at) => (found[at] ? [] : [createClaim(set, template, context)])),
    owners: present.flatMap((claim) => own(set, claim, context)),
    leaving: present.find(({ metadata }) => metadata.deletionTimestamp)?.metadata.name,
    isStale: present.some((claim) => isOwnedByEarlierPod(set, claim, context)),
  };
}

/** The volumes of a pod: its claims replace volumes of the same names. */
export function volumesOf(set: SeenSet, ordinal: number, own: readonly { readonly name: string }[] = []): object[] {
  const templates = set.spec.volumeClaimTemplates ?? [];
  const claimed = new Set(templates.map(({ metadata }) => metadata.name));
  return [
    ...templates.map((template) => ({
      name: template.metadata.name,
      persistentVolumeClaim: { claimName: claimName(set, template, { ordinal }) },
    })),
    ...own.filter(({ name }) => !claimed.has(name)),
  ];
}

/** Returns the sets that a claim's name belongs to, for a controller's `also`. */
export function setsOfClaim({ metadata }: SeenClaim, sets: readonly SeenSet[]): readonly SeenSet[] {
  const prefix = parentOf(metadata.name ?? '');
  return sets.filter(({ metadata: { name }, spec }) =>
    spec.volumeClaimTemplates?.some((template) => `${template.metadata.name}-${name}` === prefix),
  );
}

const claimName = (set: SeenSet, { metadata }: ClaimTemplate, { ordinal }: Pick<ClaimContext, 'ordinal'>) =>
  `${metadata.name}-${podName(set, ordinal)}`;

function createClaim(set: SeenSet, template: ClaimTemplate, context: ClaimContext): Action {
  const name = claimName(set, template, context);
  const pod = podName(set, context.ordinal);
  const { labels, annotations } = template.metadata;
  const claim = {
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: { ...labels, ...set.spec.selector?.matchLabels },
      annotations,
      ...ownersOnCreate(set),
    },
    spec: template.spec,
  };
  const owner = set.metadata.name;
  return create(PersistentVolumeClaim, claim as unknown as Draft<PersistentVolumeClaim>, {
    about: set,
    done: () =>
      eventContent('Normal', 'SuccessfulCreate', `Create Claim ${name} Pod ${pod} in StatefulSet ${owner} success`),
    failed: ({ message }) => {
      const what = `Create Claim ${name} for Pod ${pod} in StatefulSet ${owner}`;
      return eventContent('Warning', 'FailedCreate', `${what} failed error: ${message}`);
    },
  });
}

function own(set: SeenSet, claim: SeenClaim, context: ClaimContext): readonly Action[] {
  const wanted = desiredOwners(set, claim, context);
  if (!wanted) return [];
  const metadata = { ...claim.metadata, ownerReferences: wanted.references };
  const write = update(PersistentVolumeClaim, { ...claim, metadata } as unknown as Draft<PersistentVolumeClaim>);
  if (!wanted.conflicts) return [write];
  const message = `PersistentVolumeClaim ${claim.metadata.name} has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim`;
  return [event(set, 'Warning', 'ConflictingController', message), write];
}
