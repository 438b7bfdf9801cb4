/** JSON Web Tokens that are signed with RS256 (RFC 7515, RFC 7518). */
import { type KeyObject, sign } from 'node:crypto';

/** The compact form of a token. `header` and `payload` are JSON texts. */
export function signedToken(header: string, payload: string, key: KeyObject): string {
  const content = `${base64url(header)}.${base64url(payload)}`;
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
}

const base64url = (text: string) => Buffer.from(text).toString('base64url');
