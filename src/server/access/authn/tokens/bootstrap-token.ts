import { timingSafeEqual } from 'node:crypto';
import type { User } from '../../../../api/user.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import { Secret } from '../../../../kinds/groups/core/configuration/secret.ts';
import { authenticated } from '../authenticated.ts';
import type { TokenSource } from '../authenticator.ts';
import type { Find } from './bound-objects.ts';

const SECRET_TYPE = 'bootstrap.kubernetes.io/token';
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** Bootstrap tokens, with which nodes join: `id.secret`, stored in Secrets of their own type in kube-system. */
export function bootstrapTokens({ find, clock }: { find: Find; clock: Clock }): TokenSource {
  return {
    userOf(token) {
      const [, id, secret] = token.length === 23 ? (TOKEN.exec(token) ?? []) : [];
      if (!id || !secret) return undefined;
      const found = find(Secret, 'kube-system', `bootstrap-token-${id}`)?.hub(Secret) as Secret | undefined;
      return found && isValidFor(found, { id, secret }, clock.now()) ? userOf(found, id) : undefined;
    },
  };
}

function isValidFor(secret: Secret, token: { id: string; secret: string }, now: number): boolean {
  if (secret.type !== SECRET_TYPE || secret.metadata.deletionTimestamp) return false;
  const expiration = textOf(secret, 'expiration');
  return (
    isEqual(textOf(secret, 'token-secret'), token.secret) &&
    textOf(secret, 'token-id') === token.id &&
    textOf(secret, 'usage-bootstrap-authentication') === 'true' &&
    // An expiration that cannot be parsed counts as passed.
    (expiration === '' || now < Date.parse(expiration))
  );
}

/** Returns the user; undefined if the Secret names a group that is not for bootstrapping. */
function userOf(secret: Secret, id: string): User | undefined {
  const extra = textOf(secret, 'auth-extra-groups');
  const groups = extra === '' ? [] : [...new Set(extra.split(','))];
  if (!groups.every((group) => GROUP.test(group))) return undefined;
  return authenticated({ name: `system:bootstrap:${id}`, groups: ['system:bootstrappers', ...groups.sort()] });
}

function textOf({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
