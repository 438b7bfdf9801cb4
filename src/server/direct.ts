/**
 * The API for clients in the same process. A direct call skips TLS, JSON, fairness and audit, but not authorization: it is
 * made as a user, and needs the same rights as the same request over HTTP.
 */
import type { Call, Handle, Reply, User } from './api.ts';
import { RequestAttributes } from './authz/attributes.ts';
import type { Authorizer } from './authz/authorizer.ts';
import { requireAccess } from './authz/require-access.ts';
import type { Registry } from './registry.ts';

/** A call whose user is already known. */
export type DirectCall = Omit<Call, 'user'>;

/** Rejects with an ApiError, Forbidden among them. */
export type DirectHandle = (call: DirectCall) => Promise<Reply>;

interface DirectOptions {
  readonly handle: Handle;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
}

const NO_OPTIONS = Object.freeze({});

/** Returns the way into the server for each user. Keep what it returns: rights are cached by the user object. */
export function directCalls({ handle, registry, authorizer }: DirectOptions): (user: User) => DirectHandle {
  return (user) => async (direct) => {
    const call = { ...direct, user };
    const resource = registry.resource(call.apiVersion, call.plural);
    if (resource) {
      const { namespace, name, subresource } = call;
      const target = { resource, namespace, name, subresource: subresource ? { name: subresource } : undefined };
      const pending = requireAccess(authorizer, new RequestAttributes(call, target, call.options ?? NO_OPTIONS));
      if (pending) await pending;
    }
    return handle(call);
  };
}
