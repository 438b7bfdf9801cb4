import { badRequest, conflict } from '../../../../api/errors.ts';
import { deepEqual, type Tree } from '../../../../base/json/tree.ts';
import { timestamp } from '../../../../base/time/timestamp.ts';
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';
import type { ObjectMeta } from '../../../../kinds/shapes/meta/object-meta.ts';
import { checkObject, invalidObject } from '../../body/check.ts';
import { noteWarnings } from '../../body/warnings.ts';
import type { Entry } from '../../cache/entry/entry.ts';
import type { ManagedFieldsEntry } from '../../managed-fields/stored/managed-entry.ts';
import { trackUpdate } from '../../managed-fields/track.ts';
import type { UpdatedPart } from '../../registry/descriptor.ts';
import type { ApiRequest } from '../../registry/registry.ts';
import { ObjectDraft, type Update } from '../draft.ts';
import type { TransactionPorts } from '../ports.ts';
import { hookContext, sameContent, sameDesiredState } from './comparison.ts';
import { allocate } from './create.ts';

/** Drafts an update. `object` is the requested object; parts that it may not change are restored. */
export function draftUpdate(
  core: TransactionPorts,
  request: ApiRequest,
  mutation: Update,
  { current, object }: { readonly current: Entry; readonly object: KubeObject },
): ObjectDraft {
  const { resource, call } = request;
  const { kind } = resource;
  const draft = new ObjectDraft(request, mutation, current.at, current, object);
  const old = draft.old!;
  checkPreconditions(kind, object, old);
  if (kind.requiresVersion && call.verb === 'update') checkHasVersion(kind, object);
  const { managedFields: given } = object.metadata;
  keepServerMetadata(object, old);
  keepOtherParts(kind, mutation.part, asTree(object), asTree(old));
  if (given || old.metadata.managedFields) {
    const now = () => timestamp(core.clock.now());
    setManagers(object, mutation.isApplied ? given : trackUpdate(request, { current, old, object, given, now }));
  }
  return draft;
}

function setManagers(object: KubeObject, entries: readonly ManagedFieldsEntry[] | undefined): void {
  if (entries?.length) object.metadata.managedFields = entries as ManagedFieldsEntry[];
}

/** Performs everything between mutating and validating admission. Returns undefined when done synchronously. */
export function finishUpdate(
  core: TransactionPorts,
  draft: ObjectDraft,
  { part, hasValidSpec }: Update,
): Promise<void> | undefined {
  const { object, request } = draft;
  const { resource, call, notes } = request;
  const { kind, version } = resource;
  const old = draft.old!;
  // Admission may not change more than the request is allowed to.
  keepOtherParts(kind, part, asTree(object), asTree(old));
  const isStatus = part === 'status';
  if (isStatus) kind.onStatusUpdate?.(object, old, hookContext(core, call));
  else kind.onUpdate?.(object, old, hookContext(core, call));
  // A subresource that records something, such as the node of a pod, does not change the desired state.
  if (part === 'object') countGeneration(kind, object, old);
  allocate(core, draft);
  shareUnchanged(asTree(object), asTree(old));
  const subresource = isStatus ? 'status' : call.subresource;
  const warn = () => void noteWarnings(kind, object, { notes, old, status: isStatus });
  const checked = hasValidSpec ? (asTree(object).spec as object) : undefined;
  const { apiVersion } = version;
  const checking =
    checkObject(core, kind, object, { old, subresource, apiVersion, checked, call }) ?? core.stages.pause();
  if (checking) return checking.then(warn);
  warn();
  return undefined;
}

/** Reports whether an update changes nothing, including the stored bytes. */
export function isUnchangedUpdate({ object, old, current, request }: ObjectDraft): boolean {
  // A change of only the times of managers is not written.
  if (!sameContent(object, old!, { ignoreTimes: true })) return false;
  const { managedFields } = old!.metadata;
  if (managedFields) object.metadata.managedFields = managedFields;
  return current!.isUpToDate(request.resource.kind);
}

/** Throws when the object has no name, or another one than that in the URL. */
export function checkName({ metadata: { name } }: Pick<KubeObject, 'metadata'>, asked: string | undefined): void {
  if (!name) {
    throw badRequest(`the name of the object (${asked} based on URL) was undeterminable: name must be provided`);
  }
  if (name === asked) return;
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${asked})`);
}

/** Checks the name, and the resourceVersion and uid in the object. */
function checkPreconditions(kind: Kind, { metadata }: KubeObject, old: KubeObject): void {
  const { name = '', namespace, uid, resourceVersion } = old.metadata;
  checkName({ metadata }, name);
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest(
      namespace
        ? `the namespace of the object (${metadata.namespace}) does not match the namespace on the URL (${namespace})`
        : 'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  if (metadata.uid && metadata.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`;
    throw conflict(kind, name, why);
  }
  const { resourceVersion: asked } = metadata;
  if (!asked || asked === '0' || asked === resourceVersion) return;
  if (/^[0-9]+$/.test(asked)) throw conflict(kind, name);
  const text = JSON.stringify(asked);
  throw badRequest(
    `invalid resource version: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: invalid syntax`,
  );
}

/** Rejects updates without a resourceVersion for kinds that several clients write to. */
function checkHasVersion({ group, plural }: Kind, { metadata }: KubeObject): void {
  if (metadata.resourceVersion && metadata.resourceVersion !== '0') return;
  const message = 'Invalid value: 0x0: must be specified for an update';
  throw invalidObject({ group, kind: plural }, metadata.name ?? '', [
    { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message },
  ]);
}

/** Keeps the metadata that only the server writes. */
function keepServerMetadata(object: KubeObject, { metadata: kept }: KubeObject): void {
  const { labels, annotations, ownerReferences, finalizers, initializers } = object.metadata;
  const metadata: ObjectMeta = { name: kept.name, uid: kept.uid, creationTimestamp: kept.creationTimestamp };
  if (kept.generateName) metadata.generateName = kept.generateName;
  if (kept.namespace) metadata.namespace = kept.namespace;
  if (kept.generation) metadata.generation = kept.generation;
  if (kept.deletionTimestamp) metadata.deletionTimestamp = kept.deletionTimestamp;
  if (kept.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds = kept.deletionGracePeriodSeconds;
  }
  if (labels) metadata.labels = labels;
  if (annotations) metadata.annotations = annotations;
  if (ownerReferences?.length) metadata.ownerReferences = ownerReferences;
  if (finalizers?.length) metadata.finalizers = finalizers;
  if (initializers) metadata.initializers = initializers;
  object.metadata = metadata;
}

/** Reports whether the status has its own path. Otherwise it is a field like any other. */
const hasStatusPath = ({ subresources }: Kind) => subresources?.status !== undefined;

const asTree = (object: KubeObject): Tree => object as KubeObject & Tree;

/** Keeps the status in an update of the object, and everything but the status and metadata in an update of the status. */
function keepOtherParts(kind: Kind, part: UpdatedPart, object: Tree, old: Tree): void {
  if (part === 'object' && hasStatusPath(kind)) keepField(object, old, 'status');
  if (part !== 'status') return;
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field !== 'status' && field !== 'metadata') keepField(object, old, field);
  }
}

function keepField(object: Tree, old: Tree, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

/** Replaces values that equal old ones by the same references: they are not compared, encoded or stored twice. */
function shareUnchanged(object: Tree, old: Tree): void {
  for (const field in object) {
    const value = object[field];
    if (field === 'metadata' || typeof value !== 'object' || value === old[field]) continue;
    if (deepEqual(value, old[field])) object[field] = old[field];
  }
}

function countGeneration(kind: Kind, object: KubeObject, old: KubeObject): void {
  if (!kind.generation) return;
  const isSame =
    sameDesiredState(object, old) &&
    (hasStatusPath(kind) || deepEqual(asTree(object).status, asTree(old).status)) &&
    (kind.generation !== 'annotations' || deepEqual(object.metadata.annotations, old.metadata.annotations));
  if (!isSame) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}
