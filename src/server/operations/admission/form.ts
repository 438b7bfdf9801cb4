/** Converts admitted objects to the version in which a webhook or a policy sees them. */
import { ApiError } from '../../../api/errors.ts';
import type { GroupVersionKind } from '../../../api/object-types.ts';
import { clone, setPath, type Tree } from '../../../base/json/tree.ts';
import { type KubeObject, splitApiVersion, type Version } from '../../../kinds/kind.ts';
import { decode } from '../../../schema/decode/decode.ts';
import type { AdmissionRequest } from '../../objects/admission/request.ts';
import { cannotHandle } from '../../objects/body/body.ts';
import { scaleDefinition, scaleOf } from '../../objects/body/scale-view.ts';
import { fromHub, type MaybeAsync, toHub, whenReady } from '../../objects/conversion/convert.ts';
import { checkTree } from '../../objects/transaction/object-size.ts';

/** A request in the form that a webhook or a policy sees. */
export interface AdmittedForm {
  readonly version: Version;
  readonly type: GroupVersionKind;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
}

/** Converts copies of both objects. `isNew`: fields that only the server sets on new objects are left out. */
export async function formOf(request: AdmissionRequest, version: Version, isNew: boolean): Promise<AdmittedForm> {
  const { object, old, body } = request;
  const converted = async (each: KubeObject | undefined) => each && inVersion(request, version, each);
  const shown = await converted(object);
  return {
    version,
    type: typeOf(request, version),
    object: shown && withOwnMetadata(shown, request, isNew && !body),
    old: await converted(old),
  };
}

/** Converts both objects for readers that change nothing; they may be those of the request itself. */
export function readOnlyForm(request: AdmissionRequest, version: Version, isNew: boolean): MaybeAsync<AdmittedForm> {
  const { object, old, body } = request;
  const read = (each: KubeObject | undefined) => each && readOnly(request, version, each);
  return whenReady(read(object), (shown) =>
    whenReady(read(old), (before) => ({
      version,
      type: typeOf(request, version),
      object: shown && withOwnMetadata(shown, request, isNew && !body),
      old: before,
    })),
  );
}

function readOnly(request: AdmissionRequest, version: Version, object: KubeObject): MaybeAsync<KubeObject> {
  const { kind, body, subresource } = request;
  const isAsStored = version === kind.hub && object.apiVersion === version.apiVersion && subresource !== 'scale';
  return body || isAsStored ? object : inVersion(request, version, object);
}

export function typeOf({ kind, body, subresource, resource }: AdmissionRequest, version: Version): GroupVersionKind {
  if (body) return typeNamed(body);
  if (subresource === 'scale') return typeNamed(scaleOf(resource, { metadata: {} } as KubeObject));
  return { group: version.group, version: version.version, kind: kind.kind };
}

function typeNamed({ kind, apiVersion }: { readonly kind: string; readonly apiVersion: string }): GroupVersionKind {
  const [group, version] = splitApiVersion(apiVersion);
  return { group, version, kind };
}

function inVersion(request: AdmissionRequest, version: Version, object: KubeObject): MaybeAsync<KubeObject> {
  const { kind, body, subresource } = request;
  if (body) return clone(object);
  return whenReady(fromHub({ kind, version }, object), (converted) =>
    subresource === 'scale' ? (scaleOf({ kind, version }, converted) as KubeObject) : converted,
  );
}

function withOwnMetadata(object: KubeObject, { name, old }: AdmissionRequest, isNew: boolean): KubeObject {
  const { metadata } = object;
  if (isNew) {
    const { uid: _, creationTimestamp: __, generation: ___, ...asked } = metadata;
    if (!name) delete asked.name;
    return { ...object, metadata: asked };
  }
  const resourceVersion = old?.metadata.resourceVersion;
  return resourceVersion && metadata ? { ...object, metadata: { ...metadata, resourceVersion } } : object;
}

/** Converts a patched form to the stored version, but for fields of the server. Throws an ApiError if invalid. */
export async function fromForm(request: AdmissionRequest, version: Version, patched: unknown): Promise<KubeObject> {
  const { kind, body, subresource } = request;
  const before = request.object!;
  if (subresource === 'scale') return withReplicas(version, before, patched);
  checkTree(patched);
  const type = body ?? { kind: kind.kind, apiVersion: version.apiVersion };
  const schema = body?.schema ?? version.schema;
  const sent = patched as Partial<KubeObject> | null;
  if (typeof sent !== 'object' || sent?.kind !== type.kind || sent.apiVersion !== type.apiVersion) {
    const message = `the patched object is not of kind ${type.kind} in version ${type.apiVersion}`;
    throw new ApiError('InternalError', `Internal error occurred: ${message}`);
  }
  let decoded: KubeObject;
  try {
    decoded = decode(schema, sent) as KubeObject;
  } catch (error) {
    throw cannotHandle(error, type, sent);
  }
  decoded.kind = type.kind;
  decoded.apiVersion = type.apiVersion;
  if (body) return decoded;
  const object = await toHub({ kind, version }, decoded);
  object.metadata = withServerMetadata(object.metadata as KubeObject['metadata'] & Tree, before.metadata);
  return object;
}

/** Applies the number of replicas, which is the only field of a Scale that can be changed. */
function withReplicas(version: Version, before: KubeObject, patched: unknown): KubeObject {
  const { replicas = 0 } = (patched as { spec?: { replicas?: unknown } } | null)?.spec ?? {};
  if (!Number.isInteger(replicas)) {
    throw new ApiError('InternalError', 'Internal error occurred: spec.replicas of the patched Scale is no integer');
  }
  return setPath(clone(before), scaleDefinition(version).replicas, replicas);
}

const CLIENT_METADATA = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const;

function withServerMetadata(sent: Tree, before: KubeObject['metadata']): KubeObject['metadata'] {
  const metadata = { ...before } as KubeObject['metadata'] & Tree;
  for (const field of CLIENT_METADATA) {
    if (sent[field] === undefined) delete metadata[field];
    else (metadata as Tree)[field] = sent[field];
  }
  return metadata;
}
