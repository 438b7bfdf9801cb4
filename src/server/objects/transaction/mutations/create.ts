import { type Call, RequestNotes } from '../../../../api/call.ts';
import { alreadyExists, badRequest } from '../../../../api/errors.ts';
import { nameSuffix, type Random } from '../../../../base/random.ts';
import { timestamp } from '../../../../base/time/timestamp.ts';
import { IPAddress } from '../../../../kinds/groups/networking/ip-address.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import type { ObjectMeta } from '../../../../kinds/shapes/meta/object-meta.ts';
import type { StoreConflict } from '../../../../store/store.ts';
import { newAddress } from '../../allocation/new-address.ts';
import { checkObject } from '../../body/check.ts';
import { setInitialStatus } from '../../body/export.ts';
import { noteWarnings } from '../../body/warnings.ts';
import { keyOf } from '../../cache/keys.ts';
import { trackCreate } from '../../managed-fields/track.ts';
import type { ApiRequest } from '../../registry/registry.ts';
import { SERVER_USER } from '../../server-user.ts';
import { type Create, ObjectDraft } from '../draft.ts';
import type { TransactionPorts } from '../ports.ts';
import { hookContext } from './comparison.ts';

/** Attempts to generate a name when the generated one is taken. */
const MAX_NAME_ATTEMPTS = 8;
const MAX_LABEL_LENGTH = 63;
const SUFFIX_LENGTH = 5;

/** Drafts the requested object, with the metadata that the server adds to a new object. */
export function draftCreate(
  core: TransactionPorts,
  request: ApiRequest,
  mutation: Create,
  object: KubeObject,
): ObjectDraft {
  const { kind } = request.resource;
  const { name, generateName, resourceVersion, namespace: own } = object.metadata;
  const { labels, annotations, ownerReferences, finalizers, initializers, managedFields } = object.metadata;
  const namespace = request.call.namespace ?? '';
  if (own && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const isGenerated = !name && Boolean(generateName);
  const ownName = isGenerated ? generatedName(generateName ?? '', core.random) : (name ?? '');
  const now = timestamp(core.clock.now());
  const metadata: ObjectMeta = { name: ownName, uid: core.random.uuid(), creationTimestamp: now };
  if (generateName) metadata.generateName = generateName;
  if (namespace) metadata.namespace = namespace;
  if (kind.generation) metadata.generation = 1;
  if (labels) metadata.labels = labels;
  if (annotations) metadata.annotations = annotations;
  if (ownerReferences) metadata.ownerReferences = ownerReferences;
  if (finalizers?.length) metadata.finalizers = finalizers;
  if (initializers) metadata.initializers = initializers;
  object.metadata = metadata;
  const managers = mutation.isApplied ? managedFields : trackCreate(request, { object, given: managedFields, now });
  if (managers) metadata.managedFields = managers as NonNullable<ObjectMeta['managedFields']>;
  const at = { key: keyOf(kind, namespace, ownName), namespace, name: ownName };
  const draft = new ObjectDraft(request, mutation, at, undefined, object);
  draft.isNameGenerated = isGenerated;
  draft.isVersioned = Boolean(resourceVersion);
  return draft;
}

/** Generates a name. Long prefixes are truncated so that the whole name can be a label value. */
function generatedName(prefix: string, random: Random): string {
  return prefix.slice(0, MAX_LABEL_LENGTH - SUFFIX_LENGTH) + nameSuffix(random);
}

/** Performs everything between mutating and validating admission. Returns undefined when done synchronously. */
export function finishCreate(core: TransactionPorts, draft: ObjectDraft): Promise<void> | undefined {
  const { object, request } = draft;
  const { resource, call, notes } = request;
  const { kind, version } = resource;
  setInitialStatus(kind, object);
  kind.onCreate?.(object, hookContext(core, call));
  allocate(core, draft);
  const shared = core.specs.intern(kind, object);
  draft.shared = shared;
  const { apiVersion } = version;
  const facts = { old: undefined, subresource: undefined, apiVersion, checked: shared?.spec, call };
  const warn = () => {
    draft.isQuiet = noteWarnings(kind, object, { notes, old: undefined, quiet: shared?.quiet });
  };
  const checking = checkObject(core, kind, object, facts) ?? core.stages.pause();
  if (checking) return checking.then(warn);
  warn();
  return undefined;
}

/** Allocates missing addresses and ports of the object, and drafts the writes that accompany it. */
export function allocate(core: TransactionPorts, draft: ObjectDraft): void {
  const { request, object, old } = draft;
  const { rows, addresses } = core.allocation.onWrite(request.resource.kind, object, old);
  draft.allocated = rows;
  if (addresses.length > 0) draft.addresses = addresses.map((address) => draftAddress(core, address, object.metadata));
}

/** Drafts an IPAddress, which the server creates without admission and validation. */
function draftAddress(core: TransactionPorts, name: string, service: ObjectMeta): ObjectDraft {
  const { plural, hub } = IPAddress;
  const { apiVersion } = hub;
  const call: Call = { verb: 'create', apiVersion, plural, name, user: SERVER_USER };
  const request: ApiRequest = { resource: { kind: IPAddress, version: hub }, call, notes: new RequestNotes() };
  const object = newAddress(name, service);
  return draftCreate(core, request, { type: 'create', object: () => object }, object);
}

/** Rejects a resourceVersion after admission, as in Kubernetes: errors of policies take precedence. */
export function checkUnversioned({ isVersioned }: ObjectDraft): void {
  if (isVersioned) throw badRequest('resourceVersion should not be set on objects to be created');
}

/** Throws AlreadyExists unless another name can be generated. */
export function checkNameTaken(
  { at, request, isNameGenerated }: ObjectDraft,
  conflict: StoreConflict,
  attempt: number,
): void {
  if (conflict.key !== at.key || (isNameGenerated && attempt < MAX_NAME_ATTEMPTS)) return;
  throw alreadyExists(request.resource.kind, at.name);
}
