/** Every kind that is answered and not stored: the one list, and how its verbs are done. */
import { badRequest, methodNotAllowed, notFound } from '../../base/errors.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Reply } from '../api.ts';
import { selfLinkOf } from '../cache/encoding.ts';
import type { Core } from '../core.ts';
import { expectedBody, readBody } from '../objects/body.ts';
import { checkContent } from '../objects/check.ts';
import { plainItem } from '../objects/unstored.ts';
import type { ApiRequest, Operation } from '../operation.ts';
import type { Resource } from '../registry.ts';
import { checkOf } from '../selection.ts';
import { type AdmittedBody, withAdmittedBody } from '../transaction/admitted-body.ts';
import { accessReviews } from './access.ts';
import type { Answer } from './answer.ts';
import { componentStatus } from './components.ts';
import { selfSubjectReview, tokenReview } from './identity.ts';
import { nodeMetrics, podMetrics } from './usage.ts';

const answers = new Map(
  [selfSubjectReview, tokenReview, componentStatus, nodeMetrics, podMetrics, ...accessReviews].map((answer) => [
    answer.kind,
    answer,
  ]),
);

/** How a call for such a kind is done; undefined for a kind that is stored. */
export function answerOf({ kind }: Resource): Operation | undefined {
  const answer = answers.get(kind);
  return answer && ((core, request) => perform(answer, core, request));
}

async function perform(answer: Answer, core: Core, request: ApiRequest): Promise<Reply> {
  const { resource, call } = request;
  switch (call.verb) {
    case 'create':
      return { type: 'object', item: plainItem(await ask(answer, core, request)) };
    case 'get': {
      const [found] = await wanted(answer, core, request);
      if (!found) throw notFound(resource.kind, call.name ?? '');
      return { type: 'object', item: plainItem(found) };
    }
    case 'list':
      return listOf(resource, call.namespace ?? '', await wanted(answer, core, request));
    default:
      throw methodNotAllowed();
  }
}

async function wanted(answer: Answer, core: Core, { resource, call }: ApiRequest): Promise<readonly KubeObject[]> {
  const matches = checkOf(resource, call);
  const found = (await answer.all?.(core, { namespace: call.namespace ?? '', matches })) ?? [];
  return found.filter(matches);
}

function ask(answer: Answer, core: Core, request: ApiRequest): Promise<KubeObject> {
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
    await answer.create?.(object, core, call);
    return object;
  });
}

function listOf({ kind, version }: Resource, namespace: string, objects: readonly KubeObject[]): Reply {
  const metadata = { selfLink: selfLinkOf(kind, version, { namespace }), resourceVersion: '' };
  const shape = { kind: kind.listKind, apiVersion: version.apiVersion, metadata };
  const json = () => Buffer.from(JSON.stringify({ ...shape, items: objects }));
  return { type: 'list', ...shape, items: objects.map(plainItem), json, gzip: undefined };
}
