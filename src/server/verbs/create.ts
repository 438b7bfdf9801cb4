import { alreadyExists, badRequest } from '../../base/errors.ts';
import { nameSuffix } from '../../base/random.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { ObjectMeta } from '../../kinds/shapes/meta/object-meta.ts';
import { StoreConflict } from '../../store/store.ts';
import type { Admission } from '../admission/chain.ts';
import type { ObjectReply } from '../api.ts';
import { keyOf } from '../cache/keys.ts';
import { type Core, hookContext } from '../core.ts';
import { expectedBody, readBody } from '../objects/body.ts';
import { checkObject } from '../objects/check.ts';
import { commitObject, type Draft, withAdmission } from '../objects/commit.ts';
import { isDryRun } from '../objects/dry-run.ts';
import { setInitialStatus } from '../objects/initial-status.ts';
import { unstored } from '../objects/unstored.ts';
import { noteWarnings } from '../objects/warnings.ts';
import type { ApiRequest } from '../operation.ts';

/** How often a generated name that is taken is drawn again. */
const NAME_TRIES = 8;

export async function create(core: Core, request: ApiRequest): Promise<ObjectReply> {
  const { resource } = request;
  const { kind } = resource;
  for (let tries = 1; ; tries++) {
    const { object, generated } = prepare(core, request);
    const { namespace = '', name = '' } = object.metadata;
    const at = { key: keyOf(kind, namespace, name), namespace, name };
    const opening = { operation: 'CREATE', resource, name: generated ? '' : name, object, old: undefined } as const;
    const admission = core.admission.open(core, request, opening);
    try {
      return await store(core, request, { at, object, admission });
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      if (error.key === at.key && (!generated || tries >= NAME_TRIES)) throw alreadyExists(kind, name);
      // A generated name or an address was taken by somebody else, or the namespace has changed: the next round sees it.
      await (error.revision > 0 ? core.cache.reached(error.revision) : core.cache.fresh());
    } finally {
      admission?.settle();
    }
  }
}

async function store(
  core: Core,
  { resource, call, notes }: ApiRequest,
  { at, object, admission }: Pick<Draft, 'at' | 'object'> & { admission: Admission | undefined },
): Promise<ObjectReply> {
  const { kind, version } = resource;
  const admitting = admission?.admit();
  if (admitting) await admitting;
  setInitialStatus(kind, object);
  kind.onCreate?.(object, hookContext(core, call));
  const also = core.allocation.onWrite(kind, object, undefined);
  const shared = core.specs.intern(kind, object);
  checkObject(kind, object, {
    old: undefined,
    subresource: undefined,
    apiVersion: version.apiVersion,
    checked: shared?.spec,
  });
  const isQuiet = noteWarnings(kind, object, { notes, old: undefined, quiet: shared?.quiet });
  const validating = admission?.validate();
  if (validating) await validating;
  if (isDryRun(call)) {
    const existing = core.cache.entry(at.key);
    if (existing) throw new StoreConflict(at.key, existing.revision);
    return { type: 'object', item: unstored(resource, object) };
  }
  const together = withAdmission(also, admission);
  const conditions = admission?.conditions;
  const entry = await commitObject(core, { at, kind, object, expect: 0, shared, also: together, conditions });
  if (!shared) core.specs.remember(kind, entry, isQuiet);
  return { type: 'object', item: entry.viewOnce(resource) };
}

/** The object as it was asked for, with the metadata that the server gives it. */
function prepare(core: Core, request: ApiRequest): { object: KubeObject; generated: boolean } {
  const { resource, call } = request;
  const { kind, version } = resource;
  const sent = readBody(expectedBody(resource), request, core.registry);
  const { resourceVersion, namespace: own } = sent.metadata;
  if (resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created');
  const namespace = call.namespace ?? '';
  if (own && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const now = timestamp(core.clock.now());
  sent.apiVersion = kind.hub.apiVersion;
  const object: KubeObject = version.toHub ? version.toHub(sent) : sent;
  const { labels, annotations, ownerReferences, finalizers, initializers, generateName } = object.metadata;
  const generated = !object.metadata.name && Boolean(generateName);
  const name = generated ? generatedName(generateName ?? '', core) : object.metadata.name;
  const metadata: ObjectMeta = { name: name ?? '', uid: core.random.uuid(), creationTimestamp: now };
  if (generateName) metadata.generateName = generateName;
  if (namespace) metadata.namespace = namespace;
  if (kind.generation) metadata.generation = 1;
  if (labels) metadata.labels = labels;
  if (annotations) metadata.annotations = annotations;
  if (ownerReferences) metadata.ownerReferences = ownerReferences;
  if (finalizers?.length) metadata.finalizers = finalizers;
  if (initializers) metadata.initializers = initializers;
  object.metadata = metadata;
  return { object, generated };
}

/** Long beginnings are cut so that the whole name stays within a label's length. */
function generatedName(beginning: string, core: Core): string {
  return beginning.slice(0, 63 - 5) + nameSuffix(core.random);
}
