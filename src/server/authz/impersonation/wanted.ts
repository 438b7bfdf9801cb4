/** Whom a request asks to act as, by its headers. */
import type { IncomingHttpHeaders } from 'node:http';
import { badRequest } from '../../../base/errors.ts';
import { put } from '../../../base/tree.ts';
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';
const UID = 'impersonate-uid';
const EXTRA = 'impersonate-extra-';

export interface Wanted {
  readonly name: string;
  /** Empty where none was asked for. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Undefined where the headers ask for nothing of the sort. Throws a BadRequest. */
export function wantedUser(headers: IncomingHttpHeaders): Wanted | undefined {
  // That is most requests, and is found out without making anything.
  if (!isWanted(headers)) return undefined;
  const extra: Record<string, string[]> = {};
  for (const [header, value] of Object.entries(headers)) {
    if (header.startsWith(EXTRA)) put(extra, unescaped(header.slice(EXTRA.length)), valuesOf(value));
  }
  const wanted = { name: textOf(headers[USER]), uid: textOf(headers[UID]), groups: valuesOf(headers[GROUP]), extra };
  if (wanted.name) return wanted;
  if (!wanted.uid && headers[GROUP] === undefined && Object.keys(extra).length === 0) return undefined;
  throw badRequest(`requested ${printed(wanted)} without impersonating a user name`);
}

/** The service account that a name is of; undefined for who is none. */
export function accountOf(name: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, account] = /^system:serviceaccount:([^:]*):([^:]*)$/.exec(name) ?? [];
  if (namespace === undefined || account === undefined) return undefined;
  return isName(namespace, dnsLabel) && isName(account, dnsSubdomain) ? { namespace, name: account } : undefined;
}

/** The node that a name is of; undefined for who is none. */
export function nodeOf(name: string): string | undefined {
  const [, node] = /^system:node:(.*)$/s.exec(name) ?? [];
  return node !== undefined && isName(node, dnsSubdomain) ? node : undefined;
}

export function hasOnlyName({ uid, groups, extra }: Wanted): boolean {
  return uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
}

function isName(text: string, check: (text: string) => readonly string[]): boolean {
  return check(text).length === 0;
}

function isWanted(headers: IncomingHttpHeaders): boolean {
  for (const header in headers) {
    if (header.charCodeAt(0) !== 0x69 || !header.startsWith('impersonate-')) continue;
    if (header === USER || header === GROUP || header === UID || header.startsWith(EXTRA)) return true;
  }
  return false;
}

/** A header that came several times arrives as one text with `, ` between; each part is asked about by itself. */
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

/** In the words of Kubernetes, which are Go's. */
function printed({ name, uid, groups, extra }: Wanted): string {
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
