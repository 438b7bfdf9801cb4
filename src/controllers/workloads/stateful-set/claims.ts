/** The storage of each pod: claims that are made from the set's templates, named after the pod, and outlive it. */
import type { DeepReadonly, Draft } from '../../../client/object-types.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import type { Listers } from '../../loop/define.ts';
import { type Action, create, event, told, update } from '../../loop/plan.ts';
import { parentOf, podName, type SeenSet } from './identity.ts';
import { isOwnedByEarlierPod, ownersOnCreate, ownersWanted, type Place } from './retention.ts';

type SeenClaim = DeepReadonly<PersistentVolumeClaim>;
type ClaimTemplate = NonNullable<SeenSet['spec']['volumeClaimTemplates']>[number];

/** The claims of one place, as they are and as they should be. */
export interface Claims {
  /** Creates those that are missing. */
  readonly missing: readonly Action[];
  /** Says whose they are, as the retention policy asks. */
  readonly owners: readonly Action[];
  /** The name of one that is on its way out, so that no pod can use it. */
  readonly leaving: string | undefined;
  /** One belongs to the pod that was here before, and will go with it. */
  readonly isStale: boolean;
}

export function claimsOf(set: SeenSet, place: Place, { of }: Listers): Claims {
  const { namespace } = set.metadata;
  const templates = set.spec.volumeClaimTemplates ?? [];
  const found = templates.map((template) => of(PersistentVolumeClaim).get(claimName(set, template, place), namespace));
  const present = found.filter((claim) => claim !== undefined);
  return {
    missing: templates.flatMap((template, at) => (found[at] ? [] : [createClaim(set, template, place)])),
    owners: present.flatMap((claim) => own(set, claim, place)),
    leaving: present.find(({ metadata }) => metadata.deletionTimestamp)?.metadata.name,
    isStale: present.some((claim) => isOwnedByEarlierPod(set, claim, place)),
  };
}

/** The volumes of a pod: its claims take the place of volumes of the same names. */
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

/** For a controller's `also`: the sets that a claim's name fits. */
export function setsOfClaim({ metadata }: SeenClaim, sets: readonly SeenSet[]): readonly SeenSet[] {
  const prefix = parentOf(metadata.name ?? '');
  return sets.filter(({ metadata: { name }, spec }) =>
    spec.volumeClaimTemplates?.some((template) => `${template.metadata.name}-${name}` === prefix),
  );
}

const claimName = (set: SeenSet, { metadata }: ClaimTemplate, { ordinal }: Pick<Place, 'ordinal'>) =>
  `${metadata.name}-${podName(set, ordinal)}`;

function createClaim(set: SeenSet, template: ClaimTemplate, place: Place): Action {
  const name = claimName(set, template, place);
  const pod = podName(set, place.ordinal);
  const { labels, annotations } = template.metadata;
  const claim = {
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: { ...labels, ...set.spec.selector?.matchLabels },
      ...(annotations ? { annotations } : {}),
      ...ownersOnCreate(set),
    },
    spec: template.spec,
  };
  const owner = set.metadata.name;
  return create(PersistentVolumeClaim, claim as unknown as Draft<PersistentVolumeClaim>, {
    about: set,
    done: () => told('Normal', 'SuccessfulCreate', `Create Claim ${name} Pod ${pod} in StatefulSet ${owner} success`),
    failed: ({ message }) => {
      const what = `Create Claim ${name} for Pod ${pod} in StatefulSet ${owner}`;
      return told('Warning', 'FailedCreate', `${what} failed error: ${message}`);
    },
  });
}

function own(set: SeenSet, claim: SeenClaim, place: Place): readonly Action[] {
  const wanted = ownersWanted(set, claim, place);
  if (!wanted) return [];
  const metadata = { ...claim.metadata, ownerReferences: wanted.references };
  const write = update(PersistentVolumeClaim, { ...claim, metadata } as unknown as Draft<PersistentVolumeClaim>);
  if (!wanted.conflicts) return [write];
  const message = `PersistentVolumeClaim ${claim.metadata.name} has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim`;
  return [event(set, 'Warning', 'ConflictingController', message), write];
}
