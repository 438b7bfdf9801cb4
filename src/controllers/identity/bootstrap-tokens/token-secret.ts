/** Reads the Secrets of bootstrap tokens. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Secret } from '../../../kinds/groups/core/configuration/secret.ts';

export const NAMESPACE = 'kube-system';
const TYPE = 'bootstrap.kubernetes.io/token';
const PREFIX = 'bootstrap-token-';

type ReadSecret = DeepReadonly<Secret>;

export function isBootstrapSecret({ type, metadata }: ReadSecret): boolean {
  return type === TYPE && metadata.namespace === NAMESPACE;
}

/** Returns when the token expires; infinity without an expiration. An unreadable time has passed. */
export function expiryOf(secret: ReadSecret): number {
  const text = textOf(secret, 'expiration');
  if (text === '') return Number.POSITIVE_INFINITY;
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : time;
}

/** Returns the token if it may be used for signing. */
export function signingPart(secret: ReadSecret, now: number): { id: string; secret: string } | undefined {
  const id = textOf(secret, 'token-id');
  const part = textOf(secret, 'token-secret');
  const isGood =
    !secret.metadata.deletionTimestamp &&
    secret.metadata.name === `${PREFIX}${id}` &&
    id !== '' &&
    part !== '' &&
    now < expiryOf(secret) &&
    textOf(secret, 'usage-bootstrap-signing') === 'true';
  return isGood ? { id, secret: part } : undefined;
}

function textOf({ data }: ReadSecret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
}
