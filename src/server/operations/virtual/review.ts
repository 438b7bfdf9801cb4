import type { Call } from '../../../api/call.ts';
import { badRequest } from '../../../api/errors.ts';
import type { ObjectReply } from '../../../api/reply.ts';
import type { User } from '../../../api/user.ts';
import { SelfSubjectReview } from '../../../kinds/groups/access/authentication/self-subject-review.ts';
import { TokenReview } from '../../../kinds/groups/access/authentication/token-review.ts';
import type { Kind, KubeObject, ObjectOf } from '../../../kinds/kind.ts';
import type { Access } from '../../access/ports.ts';
import { plainItem, readBody } from '../../objects/body/body.ts';
import { checkContent } from '../../objects/body/check.ts';
import type { Reader } from '../../objects/ports.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import { type AdmittedBody, withAdmittedBody } from '../../objects/transaction/admitted-body.ts';
import type { Writer } from '../../objects/transaction/ports.ts';
import type { VirtualResource } from './virtual-resource.ts';

/** The ports of reviews, which may use the server's authenticators and authorizers. */
type Ports = Pick<Reader, 'cache' | 'registry'> & Pick<Writer, 'admission'> & Access;

/** Fills in the status of a decoded, admitted and validated review. */
type Complete<T> = (review: T, core: Ports, call: Call) => void | Promise<void>;

/** A kind that can only be created; the response is the object with its verdict. */
export function review<K extends Kind>(kind: K, complete: Complete<ObjectOf<K>>): VirtualResource {
  async function create(core: Ports, request: ApiRequest): Promise<ObjectReply> {
    const { call } = request;
    const context = { old: undefined, subresource: undefined, apiVersion: call.apiVersion };
    const body: AdmittedBody<KubeObject> = {
      read: () => readReview(core, request),
      check: (object) => checkContent(kind, object, context),
    };
    return withAdmittedBody(core, request, body, async (object) => {
      await complete(object as ObjectOf<K>, core, call);
      return { type: 'object', item: plainItem(object) };
    });
  }
  return { kind, operations: { create } };
}

function readReview(core: Ports, request: ApiRequest): KubeObject {
  const { call } = request;
  const object = readBody(request, core.registry);
  const { namespace } = object.metadata;
  if (namespace && namespace !== call.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (call.namespace) object.metadata.namespace = call.namespace;
  return object;
}

export const selfSubjectReview = review(SelfSubjectReview, (object, _core, { user }) => {
  object.status = { userInfo: userInfo(user) };
});

export const tokenReview = review(TokenReview, async (object, core) => {
  const { token, audiences = [] } = object.spec;
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  const found = await core.identify(token, audiences);
  object.status = found
    ? { authenticated: true, user: userInfo(found.user), audiences: [...found.audiences] }
    : { user: {}, error: 'invalid bearer token' };
});

function userInfo({ name, uid, groups, extra }: User) {
  return { username: name, uid: uid || undefined, groups: [...groups], extra: extra ? copyOf(extra) : undefined };
}

function copyOf(extra: NonNullable<User['extra']>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
}
