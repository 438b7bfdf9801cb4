/** The writes of an undo, as mutations of a transaction. */
import { clientContent, withContent } from '../../../../api/undo/content.ts';
import { clone } from '../../../../base/json/tree.ts';
import { PersistentVolume } from '../../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';
import { BIND_COMPLETED, BOUND_BY_CONTROLLER } from '../../../../kinds/volumes/binding.ts';
import { exportedObject } from '../../../objects/body/export.ts';
import type { Mutation } from '../../../objects/transaction/draft.ts';
import type { DraftPorts } from '../../../objects/transaction/several.ts';
import { presentOwners } from './owners.ts';
import type { UndoStep } from './plan.ts';

type Managers = NonNullable<KubeObject['metadata']['managedFields']>;

/** Returns the mutation of a step; undefined for steps that leave the object as it is. */
export async function mutationOf(core: DraftPorts, step: UndoStep, dryRun: boolean): Promise<Mutation | undefined> {
  switch (step.action) {
    case 'create': {
      const object = await createdAgain(core, step.target.kind, step.before);
      return { type: 'create', object: () => clone(object), isApplied: true };
    }
    case 'update': {
      const { before, now } = step;
      return { type: 'update', part: 'object', next: () => returned(core, now, before), isApplied: true };
    }
    case 'delete': {
      const { uid, resourceVersion } = step.now.metadata;
      const none = { gracePeriodSeconds: undefined, propagation: undefined, ignoreReadError: false };
      return { type: 'delete', plan: { ...none, uid, resourceVersion, dryRun } };
    }
    case 'leave':
    case 'conflict':
      return undefined;
  }
}

/** Returns the object with its content of before. Fields belong again to the managers that they belonged to. */
function returned(core: DraftPorts, now: KubeObject, before: KubeObject): KubeObject {
  const object = clone(withContent(now, clientContent(before), {}));
  const { managedFields: _, ownerReferences: __, ...metadata } = object.metadata;
  setRelations(core, metadata, before, [...managersOf(before, false), ...managersOf(now, true)]);
  object.metadata = metadata;
  return object;
}

/** Sets the owners of before, as they are now, and the managers of fields. */
function setRelations(
  core: DraftPorts,
  metadata: KubeObject['metadata'],
  before: KubeObject,
  managers: Managers,
): void {
  const owners = presentOwners(core, before);
  if (owners) metadata.ownerReferences = owners;
  if (managers.length > 0) metadata.managedFields = clone(managers);
}

/** Returns a deleted object as a client would create it: what the server, its hooks and admission added is theirs to add. */
async function createdAgain(core: DraftPorts, kind: Kind, before: KubeObject): Promise<KubeObject> {
  const { namespace, name } = before.metadata;
  const exact = isExact(core, kind, before);
  // Without annotations that a controller writes with the status.
  const { annotations } = (clientContent(before) as Pick<KubeObject, 'metadata'>).metadata;
  const { annotations: _, ...rest } = before.metadata;
  const stored = { ...before, metadata: annotations ? { ...rest, annotations } : rest };
  const object = await exportedObject(core, { kind, version: kind.hub }, { stored, exact });
  if (kind === PersistentVolumeClaim) forgetBinding(core, object as PersistentVolumeClaim);
  const { ownerReferences: __, ...own } = object.metadata;
  const metadata: KubeObject['metadata'] = { ...own, name: name ?? '' };
  if (namespace) metadata.namespace = namespace;
  setRelations(core, metadata, before, managersOf(before, false));
  return { ...object, metadata };
}

/** Reports whether the object can keep its addresses. Pods are scheduled again. */
const isExact = ({ allocation }: DraftPorts, kind: Kind, before: KubeObject) =>
  kind !== Pod && allocation.isAvailable(kind, before);

/** Removes what says that a claim is bound, and a volume that does not exist: it gets a new one. */
function forgetBinding({ cache }: DraftPorts, { metadata, spec }: PersistentVolumeClaim): void {
  for (const annotation of [BIND_COMPLETED, BOUND_BY_CONTROLLER]) delete metadata.annotations?.[annotation];
  if (!cache.table(PersistentVolume).get('', spec.volumeName ?? '')) delete spec.volumeName;
}

function managersOf({ metadata }: KubeObject, ofStatus: boolean): Managers {
  return (metadata.managedFields ?? []).filter(({ subresource }) => (subresource === 'status') === ofStatus);
}
