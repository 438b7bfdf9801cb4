import type { ObjectReply } from '../../../api/reply.ts';
import { clone, setPath, withoutUndefined } from '../../../base/json/tree.ts';
import { type Scale, type ScaleShape, scaleShapeOf } from '../../../kinds/groups/autoscaling/scale.ts';
import { type KubeObject, splitApiVersion } from '../../../kinds/kind.ts';
import { validate } from '../../../schema/validate.ts';
import type { Access } from '../../access/ports.ts';
import { plainItem, readBody } from '../../objects/body/body.ts';
import { invalidObject } from '../../objects/body/check.ts';
import { SCALE_KIND, scaleDefinition, scaleOf } from '../../objects/body/scale-view.ts';
import { type MaybeAsync, whenReady } from '../../objects/conversion/convert.ts';
import { type ApiRequest, type Resource, updatedPart } from '../../objects/registry/registry.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { applyTo } from '../verbs/apply.ts';
import { get } from '../verbs/get.ts';
import { applyPatch, decodePatched } from '../verbs/patch.ts';
import { replyOf } from '../verbs/reply.ts';
import type { Subresource } from './subresource.ts';

type Ports = TransactionPorts & Pick<Access, 'authorizer'>;

/** Reads and writes the number of replicas, in a form that all kinds with replicas share. */
export const scale: Subresource<'scale'> = {
  name: 'scale',
  operations: {
    async get(core, request) {
      return scaleReply(request.resource, (await get(core, request)).item.object);
    },

    async update(core, request) {
      const sent = readBody(request, core.registry) as Scale;
      return setReplicas(core, request, () => sent);
    },

    async patch(core, request) {
      if (request.call.patchType === 'apply') return applyReplicas(core, request);
      const { schema } = scaleShapeOf(request.resource.version.apiVersion);
      return setReplicas(core, request, (before) =>
        whenReady(
          applyPatch(core, request, { schema, current: before }),
          (tree) => decodePatched(tree, { schema, before, request }) as Scale,
        ),
      );
    },
  },
  content: {
    type: 'body',
    of(_, version) {
      const { apiVersion, schema } = scaleShapeOf(version.apiVersion);
      return { kind: SCALE_KIND, apiVersion, schema };
    },
  },
  updates: 'object',
};

/** Applies the number of replicas, which is owned as a field of the object. */
async function applyReplicas(core: Ports, request: ApiRequest): Promise<ObjectReply> {
  const { resource, call } = request;
  const { version, kind } = resource;
  const { metadata = {}, spec } = readBody(request, core.registry) as Scale;
  const { name = call.name, namespace = call.namespace, resourceVersion, uid } = metadata;
  const config = {
    apiVersion: version.apiVersion,
    kind: kind.kind,
    metadata: withoutUndefined({
      name,
      namespace: namespace || undefined,
      resourceVersion: resourceVersion || undefined,
      uid: uid || undefined,
    }),
  };
  const shape = scaleShapeOf(version.apiVersion);
  const before = scaleOf(resource, { ...config, metadata: { name: call.name } });
  check(shape, { ...before, spec }, call.name ?? '');
  const outcome = await applyTo(core, request, setPath(config, scaleDefinition(version).replicas, spec.replicas ?? 0));
  const { item } = await replyOf(resource, outcome);
  return scaleReply(resource, item.object);
}

async function setReplicas(
  core: Ports,
  request: ApiRequest,
  next: (before: Scale) => MaybeAsync<Scale>,
): Promise<ObjectReply> {
  const { resource, call } = request;
  const { kind, version } = resource;
  const { replicas } = scaleDefinition(version);
  const shape = scaleShapeOf(version.apiVersion);
  const outcome = await transact(core, request, {
    type: 'update',
    part: updatedPart(request),
    next: (current) =>
      whenReady(next(scaleOf(resource, current.view(resource).object)), (sent) => {
        check(shape, sent, call.name ?? '');
        const object: KubeObject = setPath(clone(current.hub(kind)), replicas, sent.spec.replicas ?? 0);
        const { name, resourceVersion, uid } = sent.metadata;
        object.metadata = { ...object.metadata, name };
        if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
        else delete object.metadata.resourceVersion;
        if (uid) object.metadata.uid = uid;
        return object;
      }),
  });
  const { item } = await replyOf(resource, outcome);
  return scaleReply(resource, item.object);
}

function check(shape: ScaleShape, sent: Scale, name: string): void {
  const context = { operation: 'update', old: undefined, subresource: 'scale', apiVersion: shape.apiVersion } as const;
  const errors = validate(shape.schema, sent, context);
  if (errors.length > 0)
    throw invalidObject({ group: splitApiVersion(shape.apiVersion)[0], kind: SCALE_KIND }, name, errors);
}

function scaleReply(resource: Resource, object: KubeObject): ObjectReply {
  return { type: 'object', item: plainItem(scaleOf(resource, object)) };
}
