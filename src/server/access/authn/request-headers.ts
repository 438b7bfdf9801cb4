/** Users named in headers of an authenticating proxy. A proxy is trusted only with a certificate of its authority. */
import type { IncomingHttpHeaders } from 'node:http';
import type { User } from '../../../api/user.ts';
import { put } from '../../../base/json/tree.ts';
import { authenticated } from './authenticated.ts';
import type { ClientCertificate } from './certificate.ts';

/** The trusted certificates and headers. Header names are case-insensitive. */
export interface RequestHeaderOptions {
  /** Allowed common names of certificates; if empty, every certificate signed by the authority is allowed. */
  readonly allowedNames: readonly string[];
  /** Headers with the user name. The first one that has a value is used. */
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** Finds the user in the headers of a proxy; undefined when the sender is not a proxy, or names no user. */
export type RequestHeaderUser = (
  certificate: ClientCertificate,
  headers: IncomingHttpHeaders | undefined,
) => User | undefined;

export function requestHeaderUser(options: RequestHeaderOptions): RequestHeaderUser {
  const lower = (names: readonly string[]) => names.map((name) => name.toLowerCase());
  const usernameHeaders = lower(options.usernameHeaders);
  const groupHeaders = lower(options.groupHeaders);
  const prefixes = lower(options.extraHeaderPrefixes);
  const { allowedNames } = options;
  return ({ proxy }, headers = {}) => {
    if (proxy === undefined || (allowedNames.length > 0 && !allowedNames.includes(proxy))) return undefined;
    const name = usernameHeaders.map((header) => textOfHeader(headers[header])).find(Boolean);
    if (!name) return undefined;
    const groups = groupHeaders.flatMap((header) => valuesOfHeader(headers[header]));
    const extra = extraOf(headers, prefixes);
    return authenticated({ name, groups, extra: Object.keys(extra).length > 0 ? extra : undefined });
  };
}

function extraOf(headers: IncomingHttpHeaders, prefixes: readonly string[]): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  for (const [header, value] of Object.entries(headers)) {
    for (const prefix of prefixes) {
      if (!header.startsWith(prefix)) continue;
      const key = unescapedKey(header.slice(prefix.length));
      put(extra, key, [...(Object.hasOwn(extra, key) ? extra[key]! : []), ...valuesOfHeader(value)]);
    }
  }
  return extra;
}

/** Reads a header that is expected once. It is not split, because a part of a name would be another user. */
function textOfHeader(value: string | string[] | undefined): string {
  return decoded((Array.isArray(value) ? value[0] : value) ?? '');
}

/** Reads a header that may be repeated, whose values Node joins with `, `. */
function valuesOfHeader(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).flatMap((text) => text.split(', ')).map(decoded);
}

const decoded = (text: string) => Buffer.from(text, 'latin1').toString('utf8');

/** Decodes the key in a header name, in which characters not allowed there are percent-encoded. */
function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
