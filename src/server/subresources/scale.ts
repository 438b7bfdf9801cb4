import { noSuchPath } from '../../base/errors.ts';
import { clone, getPath, setPath } from '../../base/tree.ts';
import { type Scale, type ScaleShape, scaleShapeOf } from '../../kinds/groups/autoscaling/scale.ts';
import { type Kind, type KubeObject, type ScaleDefinition, splitApiVersion } from '../../kinds/kind.ts';
import { validate } from '../../schema/validate.ts';
import type { ObjectReply } from '../api.ts';
import type { Core } from '../core.ts';
import { readBody } from '../objects/body.ts';
import { invalidObject } from '../objects/check.ts';
import { plainItem } from '../objects/unstored.ts';
import type { ApiRequest } from '../operation.ts';
import type { Resource } from '../registry.ts';
import { transact } from '../transaction/transaction.ts';
import { get } from '../verbs/get.ts';
import { applyPatch, decodePatched } from '../verbs/patch.ts';
import { replyOf } from '../verbs/reply.ts';
import type { Subresource } from './subresource.ts';

/** Reads and writes the number of replicas, in the same form for all kinds that have one. */
export const scale: Subresource = {
  name: 'scale',
  of: ({ kind }) => kind.subresources?.scale !== undefined,
  verbs: {
    async get(core, request) {
      return scaleReply(request.resource, (await get(core, request)).item.object);
    },

    async update(core, request) {
      const shape = scaleShapeOf(request.resource.version.apiVersion);
      const sent = readBody({ kind: 'Scale', ...shape }, request, core.registry) as Scale;
      return resize(core, request, () => sent);
    },

    async patch(core, request) {
      const { schema } = scaleShapeOf(request.resource.version.apiVersion);
      return resize(core, request, (before) => {
        return decodePatched(applyPatch(schema, before, request.call), { schema, before, request }) as Scale;
      });
    },
  },
};

async function resize(core: Core, request: ApiRequest, wanted: (before: Scale) => Scale): Promise<ObjectReply> {
  const { resource, call } = request;
  const { kind } = resource;
  const { replicas } = definitionOf(kind);
  const shape = scaleShapeOf(resource.version.apiVersion);
  const outcome = await transact(core, request, {
    type: 'update',
    part: 'object',
    next: (current) => {
      const sent = wanted(scaleOf(resource, current.view(resource).object));
      check(shape, sent, call.name ?? '');
      const object: KubeObject = setPath(clone(current.hub(kind)), replicas, sent.spec.replicas ?? 0);
      const { name, resourceVersion, uid } = sent.metadata;
      object.metadata = { ...object.metadata, name };
      if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
      else delete object.metadata.resourceVersion;
      if (uid) object.metadata.uid = uid;
      return object;
    },
  });
  const { item } = await replyOf(resource, outcome);
  return scaleReply(resource, item.object);
}

function definitionOf(kind: Kind): ScaleDefinition {
  const definition = kind.subresources?.scale;
  if (!definition) throw noSuchPath();
  return definition;
}

function check(shape: ScaleShape, sent: Scale, name: string): void {
  const context = { operation: 'update', old: undefined, subresource: 'scale', apiVersion: shape.apiVersion } as const;
  const errors = validate(shape.schema, sent, context);
  if (errors.length > 0)
    throw invalidObject({ group: splitApiVersion(shape.apiVersion)[0], kind: 'Scale' }, name, errors);
}

function scaleReply(resource: Resource, object: KubeObject): ObjectReply {
  return { type: 'object', item: plainItem(scaleOf(resource, object)) };
}

function scaleOf({ kind, version }: Resource, object: KubeObject): Scale {
  const { replicas, observed, selector } = definitionOf(kind);
  const shape = scaleShapeOf(version.apiVersion);
  const { name, namespace, selfLink, uid, resourceVersion, creationTimestamp } = object.metadata;
  const wanted = getPath(object, replicas) as number | undefined;
  return {
    kind: 'Scale',
    apiVersion: shape.apiVersion,
    metadata: { name, namespace, selfLink: `${selfLink}/scale`, uid, resourceVersion, creationTimestamp },
    spec: wanted ? { replicas: wanted } : {},
    status: shape.status((getPath(object, observed) as number | undefined) ?? 0, getPath(object, selector) as never),
  };
}
