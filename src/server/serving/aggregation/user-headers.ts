/** The headers that tell another server who the user is. */

import { ApiError } from '../../../api/errors.ts';
import type { User } from '../../../api/user.ts';

export const USER_HEADER = 'X-Remote-User';
export const UID_HEADER = 'X-Remote-Uid';
export const GROUP_HEADER = 'X-Remote-Group';
export const EXTRA_HEADER_PREFIX = 'X-Remote-Extra-';

/** The headers in which proxies name users. Names are case-insensitive. */
export interface UserHeaderNames {
  /** The first of them that has a value names the user. */
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
 * The standard headers, and the first ones of `names`, where a server that follows those looks. Throws an ApiError when something
 * cannot be sent without becoming something else on the way.
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

/** Tells whether a header would name a user to a server that believes these headers. */
export function namesUsers({ username, group, extraPrefixes }: UserHeaderNames): (header: string) => boolean {
  const whole = new Set([...username, ...group].map(folded));
  const prefixes = extraPrefixes.filter((prefix) => prefix !== '').map(folded);
  return (header) => {
    const name = folded(header);
    return whole.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  };
}

/** Programs that follow CGI take an underscore for a hyphen. */
const folded = (name: string) => name.toLowerCase().replaceAll('_', '-');

const LEGAL_IN_NAMES = /[!#$&'*+.^_`|~0-9A-Za-z-]/;

/** Percent-encodes what cannot be in the name of a header, as Kubernetes does. */
function headerKey(key: string): string {
  const bytes = Buffer.from(key.toLowerCase(), 'utf8');
  return Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return LEGAL_IN_NAMES.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

/** Node writes headers in Latin-1; other servers read UTF-8. Spaces around a value are lost, and another user could be meant. */
function headerValue(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(value) || value.trim() !== value) {
    throw new ApiError(
      'BadRequest',
      `${JSON.stringify(value.slice(0, 100))} cannot be sent to another server in a header`,
    );
  }
  return Buffer.from(value, 'utf8').toString('latin1');
}
