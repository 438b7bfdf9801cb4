/** The user that a request wants to impersonate, from its headers. */
import type { IncomingHttpHeaders } from 'node:http';
import { badRequest } from '../../../../api/errors.ts';
import { put } from '../../../../base/json/tree.ts';
import { dnsLabel, dnsSubdomain } from '../../../../schema/names.ts';

const USER_HEADER = 'impersonate-user';
const GROUP_HEADER = 'impersonate-group';
const UID_HEADER = 'impersonate-uid';
const EXTRA_PREFIX = 'impersonate-extra-';

export interface RequestedUser {
  readonly name: string;
  /** The uid; empty if none is requested. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Parses the headers; undefined if they do not request impersonation. Throws a BadRequest. */
export function requestedUser(headers: IncomingHttpHeaders): RequestedUser | undefined {
  // Fast path: most requests have none of the headers, which is checked without allocating.
  if (!hasImpersonationHeaders(headers)) return undefined;
  const extra: Record<string, string[]> = {};
  for (const [header, value] of Object.entries(headers)) {
    if (header.startsWith(EXTRA_PREFIX)) put(extra, unescaped(header.slice(EXTRA_PREFIX.length)), valuesOf(value));
  }
  const requested = {
    name: textOf(headers[USER_HEADER]),
    uid: textOf(headers[UID_HEADER]),
    groups: valuesOf(headers[GROUP_HEADER]),
    extra,
  };
  if (requested.name) return requested;
  if (!requested.uid && headers[GROUP_HEADER] === undefined && Object.keys(extra).length === 0) return undefined;
  throw badRequest(`requested ${printed(requested)} without impersonating a user name`);
}

/** Parses the user name of a service account; undefined for other users. */
export function accountOf(name: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, account] = /^system:serviceaccount:([^:]*):([^:]*)$/.exec(name) ?? [];
  if (namespace === undefined || account === undefined) return undefined;
  return isName(namespace, dnsLabel) && isName(account, dnsSubdomain) ? { namespace, name: account } : undefined;
}

/** Parses the user name of a node; undefined for other users. */
export function nodeOf(name: string): string | undefined {
  const [, node] = /^system:node:(.*)$/s.exec(name) ?? [];
  return node !== undefined && isName(node, dnsSubdomain) ? node : undefined;
}

export function hasOnlyName({ uid, groups, extra }: RequestedUser): boolean {
  return uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
}

function isName(text: string, check: (text: string) => readonly string[]): boolean {
  return check(text).length === 0;
}

function hasImpersonationHeaders(headers: IncomingHttpHeaders): boolean {
  for (const header in headers) {
    if (header.charCodeAt(0) !== 0x69 || !header.startsWith('impersonate-')) continue;
    if (header === USER_HEADER || header === GROUP_HEADER || header === UID_HEADER || header.startsWith(EXTRA_PREFIX))
      return true;
  }
  return false;
}

/** Splits repeated headers, which Node joins with `, `; each value is checked by itself. */
function valuesOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).flatMap((text) => text.split(', '));
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

/** Formats the user as Go prints the struct, which is part of Kubernetes' error message. */
function printed({ name, uid, groups, extra }: RequestedUser): string {
  const list = (texts: readonly string[]) => `[]string{${texts.map((text) => JSON.stringify(text)).join(', ')}}`;
  const entries = Object.keys(extra)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${list(extra[key] ?? []).replace('[]string', '')}`);
  return [
    `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, `,
    `Groups:${groups.length > 0 ? list(groups) : '[]string(nil)'}, `,
    `Extra:map[string][]string${entries.length > 0 ? `{${entries.join(', ')}}` : '(nil)'}}`,
  ].join('');
}
