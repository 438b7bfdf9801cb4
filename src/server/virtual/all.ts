/** Every virtual resource: the one list, and how their verbs are performed. */
import { badRequest, methodNotAllowed, notFound } from '../../base/errors.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Reply } from '../api.ts';
import { selfLinkOf } from '../cache/encoding.ts';
import type { Core } from '../core.ts';
import { expectedBody, readBody } from '../objects/body.ts';
import { checkContent } from '../objects/check.ts';
import { plainItem } from '../objects/unstored.ts';
import type { ApiRequest, Operation } from '../operation.ts';
import { checkOf } from '../reads/selection.ts';
import type { Resource } from '../registry.ts';
import { type AdmittedBody, withAdmittedBody } from '../transaction/admitted-body.ts';
import { accessReviews } from './access-reviews.ts';
import { componentStatus } from './component-status.ts';
import { selfSubjectReview, tokenReview } from './identity-reviews.ts';
import { nodeMetrics, podMetrics } from './metrics.ts';
import type { VirtualResource } from './virtual-resource.ts';

const all = [selfSubjectReview, tokenReview, componentStatus, nodeMetrics, podMetrics, ...accessReviews];
const byKind = new Map(all.map((virtual) => [virtual.kind, virtual]));

/** The operation for a call to a virtual resource; undefined for a kind that is stored. */
export function virtualOperation({ kind }: Resource): Operation | undefined {
  const virtual = byKind.get(kind);
  return virtual && ((core, request) => perform(virtual, core, request));
}

async function perform(virtual: VirtualResource, core: Core, request: ApiRequest): Promise<Reply> {
  const { resource, call } = request;
  switch (call.verb) {
    case 'create':
      return { type: 'object', item: plainItem(await review(virtual, core, request)) };
    case 'get': {
      const [object] = await found(virtual, core, request);
      if (!object) throw notFound(resource.kind, call.name ?? '');
      return { type: 'object', item: plainItem(object) };
    }
    case 'list':
      return listOf(resource, call.namespace ?? '', await found(virtual, core, request));
    default:
      throw methodNotAllowed();
  }
}

async function found(
  virtual: VirtualResource,
  core: Core,
  { resource, call }: ApiRequest,
): Promise<readonly KubeObject[]> {
  const matches = checkOf(resource, call);
  const objects = (await virtual.all?.(core, { namespace: call.namespace ?? '', matches })) ?? [];
  return objects.filter(matches);
}

function review(virtual: VirtualResource, core: Core, request: ApiRequest): Promise<KubeObject> {
  const { resource, call } = request;
  const { kind } = resource;
  const context = { old: undefined, subresource: undefined, apiVersion: call.apiVersion };
  const body: AdmittedBody<KubeObject> = {
    kind,
    read() {
      const object = readBody(expectedBody(resource), request, core.registry);
      const { namespace } = object.metadata;
      if (namespace && namespace !== call.namespace) {
        throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
      }
      if (call.namespace) object.metadata.namespace = call.namespace;
      return object;
    },
    check: (object) => checkContent(kind, object, context),
  };
  return withAdmittedBody(core, request, body, async (object) => {
    await virtual.create?.(object, core, call);
    return object;
  });
}

function listOf({ kind, version }: Resource, namespace: string, objects: readonly KubeObject[]): Reply {
  const metadata = { selfLink: selfLinkOf(kind, version, { namespace }), resourceVersion: '' };
  const shape = { kind: kind.listKind, apiVersion: version.apiVersion, metadata };
  const json = () => Buffer.from(JSON.stringify({ ...shape, items: objects }));
  return { type: 'list', ...shape, items: objects.map(plainItem), json, gzip: undefined };
}
