/**
 * The API for clients in the same process. A direct call skips TLS, JSON, fairness and audit, but not authorization: it
 * is made as a user, and needs the same permissions as the same request over HTTP.
 */
import type { Call, Handle, WriteFence } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import type { User } from '../../api/user.ts';
import { BoundedMap, textBytes } from '../../base/collections/bounded-map.ts';
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import { extended } from '../../base/json/tree.ts';
import type { LogFields } from '../../base/log.ts';
import { splitApiVersion } from '../../kinds/kind.ts';
import { RequestAttributes } from '../access/authz/attributes.ts';
import type { Authorizer } from '../access/authz/authorizer.ts';
import { requireAccess } from '../access/authz/forbidden-error.ts';

/** A call whose user is already known. */
export type DirectCall = Omit<Call, 'user'>;

/** Performs a call. Rejects with an ApiError, including Forbidden. */
export type DirectHandle = (call: DirectCall) => Promise<Reply>;

interface DirectOptions {
  readonly handle: Handle;
  readonly authorizer: Authorizer;
  readonly monitor: WorkMonitor;
}

const NO_OPTIONS = Object.freeze({});

/** Returns a function that creates the handle of a user, to be kept: permissions are cached by the user object. */
export function directCalls({
  handle,
  authorizer,
  monitor,
}: DirectOptions): (user: User, fence?: WriteFence) => DirectHandle {
  const versions = new GroupVersions();
  return (user, fence) => async (direct) => {
    const call: Call = extended(direct, fence ? { user, fence } : { user });
    monitor.begin({ work: 'component call', describe: () => describeCall(call) });
    const { apiVersion, plural, namespace, name, subresource } = call;
    const target = {
      resource: { version: versions.of(apiVersion), kind: { plural } },
      subresource: subresource ? { name: subresource } : undefined,
      namespace,
      name,
    };
    const pending = requireAccess(authorizer, new RequestAttributes(call, target, call.options ?? NO_OPTIONS));
    if (pending) await pending;
    return handle(call);
  };
}

function describeCall({ verb, plural, namespace, name, user }: Call): LogFields {
  return { verb, resource: plural, namespace, name, user: user.name };
}

const MAX_CACHED_BYTES = 64 * 1024;

/** Splits API versions into group and version. Components use few of them; some come from owner references. */
class GroupVersions {
  readonly #known = new BoundedMap<{ readonly group: string; readonly version: string }>({
    maxBytes: MAX_CACHED_BYTES,
    bytesOf: ({ group, version }) => textBytes(group) + textBytes(version),
  });

  of(apiVersion: string): { readonly group: string; readonly version: string } {
    return getOrInsert(this.#known, apiVersion, () => {
      const [group, version] = splitApiVersion(apiVersion);
      return { group, version };
    });
  }
}
