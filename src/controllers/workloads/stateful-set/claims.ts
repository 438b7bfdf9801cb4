/** The storage of each pod: claims from the set's templates, named after the pod, that outlive it. */
import type { Draft } from '../../../api/object-types.ts';
import type { SeenClaim, SeenPod } from '../../../api/seen-objects.ts';
import { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Listers } from '../../loop/define.ts';
import { type Action, create, event, eventContent, update } from '../../loop/plan.ts';
import { controllerReference } from '../../shared/ownership.ts';
import { parentOf, podName, type SeenSet } from './members.ts';

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

type Reference = NonNullable<SeenClaim['metadata']['ownerReferences']>[number];

/**
 * The ordinal and pod that a claim belongs to. Claims that no pod needs are kept by their owner: owned by the set, they are
 * deleted with it; owned by a surplus pod, with the pod; without an owner, they stay.
 */
interface ClaimContext {
  readonly ordinal: number;
  readonly pod?: SeenPod | undefined;
  /** True when its pod is beyond the size of the set. */
  readonly isCondemned?: boolean;
}

/** The owners of a claim that is created for a pod of the set. */
function ownersOnCreate(set: SeenSet): { readonly ownerReferences?: readonly Reference[] } {
  return policyOf(set).whenDeleted === 'Delete' ? { ownerReferences: [controllerReference(set, StatefulSet)] } : {};
}

interface DesiredOwners {
  readonly references: readonly Reference[];
  /** True when another controller manages the claim, so that it is left alone. */
  readonly conflicts: boolean;
}

/** Returns undefined when nothing is to change, or the claim is left from an earlier set or pod of the same name. */
function desiredOwners(set: SeenSet, claim: SeenClaim, context: ClaimContext): DesiredOwners | undefined {
  const references = claim.metadata.ownerReferences ?? [];
  const isOurs = (each: Reference) => namesSet(each, set) || namesPod(each, set, context);
  if (references.some((each) => isOurs(each) && !isUs(each, set, context))) return undefined;
  const ours = references.filter(isOurs);
  const others = references.filter((each) => !isOurs(each));
  const { whenDeleted, whenScaled } = policyOf(set);
  const retains = whenDeleted === 'Retain' && whenScaled === 'Retain';
  if (!retains && others.some(({ controller }) => controller)) {
    return ours.length > 0 ? { references: others, conflicts: true } : undefined;
  }
  const wanted = wantedReferences(set, context);
  const isWell = ours.length === wanted.length && wanted.every(({ uid }) => ours.some((each) => isManager(each, uid)));
  return isWell ? undefined : { references: [...others, ...wanted], conflicts: false };
}

/** Reports whether the claim waits for the garbage collector together with the pod that owned it. */
function isOwnedByEarlierPod(set: SeenSet, { metadata }: SeenClaim, context: ClaimContext): boolean {
  if (policyOf(set).whenScaled === 'Retain') return false;
  return (metadata.ownerReferences ?? []).some((each) => namesPod(each, set, context) && !isUs(each, set, context));
}

function wantedReferences(set: SeenSet, { pod, isCondemned = false }: ClaimContext): readonly Reference[] {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenScaled === 'Delete' && isCondemned) return pod ? [controllerReference(pod, Pod)] : [];
  return whenDeleted === 'Delete' ? [controllerReference(set, StatefulSet)] : [];
}

function policyOf({ spec }: SeenSet): { readonly whenDeleted: string; readonly whenScaled: string } {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted, whenScaled };
}

const namesSet = ({ apiVersion, kind, name }: Reference, { metadata }: SeenSet) =>
  kind === StatefulSet.kind && apiVersion === StatefulSet.hub.apiVersion && name === metadata.name;

const namesPod = ({ apiVersion, kind, name }: Reference, set: SeenSet, { ordinal }: ClaimContext) =>
  kind === Pod.kind && apiVersion === Pod.hub.apiVersion && name === podName(set, ordinal);

const isUs = ({ uid }: Reference, set: SeenSet, { pod }: ClaimContext) =>
  uid === set.metadata.uid || (pod !== undefined && uid === pod.metadata.uid);

const isManager = (reference: Reference, uid: string) => reference.uid === uid && reference.controller === true;
