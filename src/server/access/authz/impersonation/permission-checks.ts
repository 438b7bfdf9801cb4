/** The permissions needed to impersonate a user, and the users that a constrained mode always rejects. */

import type { ApiError } from '../../../../api/errors.ts';
import type { User } from '../../../../api/user.ts';
import { domainPrefixedPath } from '../../../../schema/names.ts';
import type { ResourceAttributes } from '../authorizer.ts';
import { forbiddenError } from '../forbidden-error.ts';
import { type Mode, onAnyNode } from './modes.ts';
import { accountOf, nodeOf, type RequestedUser } from './requested-user.ts';

/** A check that is satisfied if `any`, which stands for many, is allowed, or else each of `all`. */
export interface PermissionCheck {
  readonly any?: ResourceAttributes;
  readonly all: readonly ResourceAttributes[];
  /** Set if no sender is allowed to. */
  readonly error?: ApiError;
}

const AUTHENTICATION_GROUP = 'authentication.k8s.io';
const MASTERS = 'system:masters';
/** Number of values from which the permission for all of them is checked first. */
const WILDCARD_FIRST_COUNT = 4;

export function permissionChecks(sender: User, requested: RequestedUser, mode: Mode): PermissionCheck[] {
  const permission = (resource: string, name: string, more: Partial<ResourceAttributes> = {}): ResourceAttributes => ({
    user: mode.name === 'associated-node' ? onAnyNode(sender) : sender,
    verb: mode.verb,
    group: mode.isConstrained ? AUTHENTICATION_GROUP : '',
    version: 'v1',
    resource,
    subresource: '',
    namespace: '',
    name,
    ...more,
  });
  const { uid, groups, extra } = requested;
  return [
    { all: [identity(requested, mode, permission)] },
    ...(uid ? [{ all: [permission('uids', uid, { group: AUTHENTICATION_GROUP })] }] : []),
    ...(groups.length > 0 ? [groupsCheck(groups, mode, permission)] : []),
    ...(Object.keys(extra).length > 0 ? [extraCheck(extra, mode, permission)] : []),
  ];
}

type PermissionOf = (resource: string, name: string, more?: Partial<ResourceAttributes>) => ResourceAttributes;

function identity({ name }: RequestedUser, mode: Mode, permission: PermissionOf): ResourceAttributes {
  const account = accountOf(name);
  if (account) return permission('serviceaccounts', account.name, { namespace: account.namespace });
  const node = mode.isConstrained ? nodeOf(name) : undefined;
  if (node === undefined) return permission('users', name);
  return permission('nodes', mode.name === 'associated-node' ? '*' : node);
}

function groupsCheck(groups: readonly string[], { isConstrained }: Mode, permission: PermissionOf): PermissionCheck {
  const all = groups.map((group) => permission('groups', group));
  if (!isConstrained) return { all };
  if (groups.includes('')) {
    return {
      all,
      error: forbiddenError(permission('groups', ''), 'impersonating the empty string group is not allowed'),
    };
  }
  if (groups.includes(MASTERS)) {
    return {
      all,
      error: forbiddenError(permission('groups', MASTERS), `impersonating the ${MASTERS} group is not allowed`),
    };
  }
  return groups.length >= WILDCARD_FIRST_COUNT ? { any: permission('groups', '*'), all } : { all };
}

function extraCheck(extra: RequestedUser['extra'], { isConstrained }: Mode, permission: PermissionOf): PermissionCheck {
  const keys = Object.keys(extra);
  const value = (key: string, name: string) =>
    permission('userextras', name, { group: AUTHENTICATION_GROUP, subresource: key });
  const all = keys.flatMap((key) => (extra[key] ?? []).map((name) => value(key, name)));
  if (!isConstrained) return { all };
  const problem = keys.map((key) => problemWith(key, extra[key] ?? [])).find((found) => found !== undefined);
  if (problem !== undefined) {
    return { all, error: forbiddenError(permission('userextras', '', { group: AUTHENTICATION_GROUP }), problem) };
  }
  return keys.length >= WILDCARD_FIRST_COUNT || all.length >= WILDCARD_FIRST_COUNT
    ? { any: value('*', '*'), all }
    : { all };
}

function problemWith(key: string, values: readonly string[]): string | undefined {
  const not = (what: string) => `impersonating ${what} is not allowed`;
  if (key === '') return not('the empty string key in extra');
  const errors = domainPrefixedPath(key).map((detail) => `extra.key: Invalid value: ${JSON.stringify(key)}: ${detail}`);
  if (errors.length > 0) {
    const all = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
    return `${not('an invalid key in extra')}: ${all}`;
  }
  if (key !== key.toLowerCase()) return `${not('a non-lowercase key in extra')}: ${JSON.stringify(key)}`;
  if (values.length === 0) return not('empty values in extra');
  return values.includes('') ? not('the empty string value in extra') : undefined;
}
