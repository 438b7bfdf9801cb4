/** The headers that identify the user towards another server. */

import { ApiError } from '../../../api/errors.ts';
import type { User } from '../../../api/user.ts';

export const USER_HEADER = 'X-Remote-User';
export const UID_HEADER = 'X-Remote-Uid';
export const GROUP_HEADER = 'X-Remote-Group';
export const EXTRA_HEADER_PREFIX = 'X-Remote-Extra-';

/** The headers in which proxies name users. Names are case-insensitive. */
export interface UserHeaderNames {
  /** Headers with the user name. The first one that has a value is used. */
  readonly username: readonly string[];
  readonly group: readonly string[];
  readonly extraPrefixes: readonly string[];
}

export const STANDARD_HEADERS: UserHeaderNames = {
  username: [USER_HEADER],
  group: [GROUP_HEADER],
  extraPrefixes: [EXTRA_HEADER_PREFIX],
};

/**
 * Returns the standard headers, and the first ones of `names`, which a server that is configured with those reads.
 * Throws an ApiError when a value cannot be sent unchanged.
 */
export function userHeaders(user: User, names = STANDARD_HEADERS): Record<string, string | string[]> {
  const { name, uid, groups, extra = {} } = user;
  const headers: Record<string, string | string[]> = {};
  for (const { username, group, extraPrefixes } of [names, STANDARD_HEADERS]) {
    if (username[0]) headers[username[0]] = headerValue(name);
    if (group[0]) headers[group[0]] = groups.map(headerValue);
    for (const [key, values] of Object.entries(extraPrefixes[0] ? extra : {})) {
      headers[extraPrefixes[0] + headerKey(key)] = values.map(headerValue);
    }
  }
  if (uid) headers[UID_HEADER] = headerValue(uid);
  return headers;
}

/** Reports whether a header would name a user to a server that trusts these headers. */
export function namesUsers({ username, group, extraPrefixes }: UserHeaderNames): (header: string) => boolean {
  const whole = new Set([...username, ...group].map(folded));
  const prefixes = extraPrefixes.filter((prefix) => prefix !== '').map(folded);
  return (header) => {
    const name = folded(header);
    return whole.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  };
}

/** Normalizes a header name: CGI programs treat an underscore like a hyphen. */
const folded = (name: string) => name.toLowerCase().replaceAll('_', '-');

const LEGAL_IN_NAMES = /[!#$&'*+.^_`|~0-9A-Za-z-]/;

/** Percent-encodes characters that a header name cannot contain, as Kubernetes does. */
function headerKey(key: string): string {
  const bytes = Buffer.from(key.toLowerCase(), 'utf8');
  return Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return LEGAL_IN_NAMES.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

/** Encodes a header value. Node writes Latin-1, others read UTF-8; lost spaces could name another user. */
function headerValue(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them.
  if (/[\x00-\x1f\x7f]/.test(value) || value.trim() !== value) {
    throw new ApiError(
      'BadRequest',
      `${JSON.stringify(value.slice(0, 100))} cannot be sent to another server in a header`,
    );
  }
  return Buffer.from(value, 'utf8').toString('latin1');
}
