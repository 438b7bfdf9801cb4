/** Acting as somebody else, by headers, for those who may `impersonate` each part of that somebody. */
import type { IncomingHttpHeaders } from 'node:http';
import { badRequest } from '../../base/errors.ts';
import { put } from '../../base/tree.ts';
import type { User } from '../api.ts';
import type { Authorizer, ResourceAttributes } from './authorizer.ts';
import { refusal } from './forbidden.ts';

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';
const UID = 'impersonate-uid';
const EXTRA = 'impersonate-extra-';
const ANONYMOUS = 'system:anonymous';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

/** Whom the headers ask to act as; undefined where they do not. Throws a BadRequest. */
export function wantedUser(headers: IncomingHttpHeaders): Wanted | undefined {
  // Most requests ask for nothing of the sort, which is found out without making anything.
  if (!isWanted(headers)) return undefined;
  const name = textOf(headers[USER]);
  const groups = valuesOf(headers[GROUP]);
  const uid = textOf(headers[UID]);
  const extra: Record<string, string[]> = {};
  for (const [header, value] of Object.entries(headers)) {
    if (header.startsWith(EXTRA)) put(extra, unescaped(header.slice(EXTRA.length)), valuesOf(value));
  }
  if (!name) {
    const parts = [...groups, ...Object.keys(extra), ...(uid ? [uid] : [])];
    throw badRequest(`requested [${parts.join(' ')}] without impersonating a user`);
  }
  return { name, groups, uid, extra };
}

interface Wanted {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

function isWanted(headers: IncomingHttpHeaders): boolean {
  for (const header in headers) {
    if (header.charCodeAt(0) !== 0x69 || !header.startsWith('impersonate-')) continue;
    if (header === USER || header === GROUP || header === UID || header.startsWith(EXTRA)) return true;
  }
  return false;
}

/** The user to act as, when `user` may. Rejects with a Forbidden that names the first part that he may not be. */
export async function impersonated(authorizer: Authorizer, user: User, wanted: Wanted): Promise<User> {
  for (const asked of questions(user, wanted)) {
    const { verdict, reason } = await authorizer.authorize(asked);
    if (verdict !== 'allow') throw refusal(asked, reason);
  }
  const { name, uid, extra } = wanted;
  return Object.freeze({
    name,
    ...(uid ? { uid } : {}),
    groups: Object.freeze(groupsOf(wanted)),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  });
}

function questions(user: User, { name, groups, uid, extra }: Wanted): ResourceAttributes[] {
  const part = (resource: string, named: string, more: Partial<ResourceAttributes> = {}): ResourceAttributes => ({
    ...{ user, verb: 'impersonate', group: '', version: 'v1', resource, subresource: '', namespace: '', name: named },
    ...more,
  });
  const account = accountOf(name);
  const identity = { group: 'authentication.k8s.io' };
  return [
    account ? part('serviceaccounts', account.name, { namespace: account.namespace }) : part('users', name),
    ...groups.map((group) => part('groups', group)),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => part('userextras', value, { ...identity, subresource: key })),
    ),
    ...(uid ? [part('uids', uid, identity)] : []),
  ];
}

function accountOf(name: string): { namespace: string; name: string } | undefined {
  const match = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  return match ? { namespace: match[1]!, name: match[2]! } : undefined;
}

/** Where groups are named, they are all; who is somebody is authenticated, unless the groups say otherwise. */
function groupsOf({ name, groups }: Wanted): string[] {
  const account = accountOf(name);
  const named =
    groups.length === 0 && account
      ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
      : [...groups];
  if (name === ANONYMOUS) return named.includes(UNAUTHENTICATED) ? named : [...named, UNAUTHENTICATED];
  if (named.includes(AUTHENTICATED) || named.includes(UNAUTHENTICATED)) return named;
  return [...named, AUTHENTICATED];
}

/** A header that came several times arrives as one text with `, ` between; each part is asked about by itself. */
function valuesOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).flatMap((text) => text.split(', ')).filter((text) => text !== '');
}

function textOf(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
