/** The headers that tell another server who the user is. */
import { ApiError } from '../../base/errors.ts';
import type { User } from '../api.ts';

export const USER_HEADER = 'X-Remote-User';
export const UID_HEADER = 'X-Remote-Uid';
export const GROUP_HEADER = 'X-Remote-Group';
export const EXTRA_HEADER_PREFIX = 'X-Remote-Extra-';

/** Throws an ApiError when something cannot be sent without becoming something else on the way. */
export function userHeaders({ name, uid, groups, extra = {} }: User): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {
    [USER_HEADER]: headerValue(name),
    [GROUP_HEADER]: groups.map(headerValue),
  };
  if (uid) headers[UID_HEADER] = headerValue(uid);
  for (const [key, values] of Object.entries(extra)) {
    headers[EXTRA_HEADER_PREFIX + headerKey(key)] = values.map(headerValue);
  }
  return headers;
}

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
