/** Recognizes and fills the token Secrets of service accounts. */
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import type { ServiceAccount } from '../../../kinds/groups/core/service-account.ts';

const TYPE = 'kubernetes.io/service-account-token';
const SERVICE_ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const SERVICE_ACCOUNT_UID = 'kubernetes.io/service-account.uid';

type ReadSecret = DeepReadonly<Secret>;
type Account = DeepReadonly<ServiceAccount>;

export function isTokenSecret({ type, metadata }: ReadSecret): boolean {
  return type === TYPE && accountNameOf({ metadata }) !== undefined;
}

export function accountNameOf({ metadata }: Pick<ReadSecret, 'metadata'>): string | undefined {
  return metadata.annotations?.[SERVICE_ACCOUNT_NAME] || undefined;
}

/** A recreated account of the same name is another one. A Secret without a UID belongs to the current account. */
export function belongsTo(secret: ReadSecret, { metadata }: Account): boolean {
  const uid = secret.metadata.annotations?.[SERVICE_ACCOUNT_UID];
  return accountNameOf(secret) === metadata.name && (!uid || uid === metadata.uid);
}

export function hasToken({ data }: ReadSecret): boolean {
  return Boolean(data?.token);
}

/** Returns the Secret of an account, to be filled when it exists and has a UID. The server generates its name. */
export function newTokenSecret({ metadata }: Account): Draft<Secret> {
  return {
    metadata: {
      generateName: `${metadata.name}-token-`,
      namespace: metadata.namespace,
      annotations: { [SERVICE_ACCOUNT_NAME]: metadata.name ?? '', [SERVICE_ACCOUNT_UID]: metadata.uid ?? '' },
    },
    type: TYPE,
  };
}

/** Reports whether this controller, not a user, created the secret for the account. */
export function isOwnTokenSecret(secret: ReadSecret, account: Account): boolean {
  return isOwnName(secret.metadata.name ?? '', account) && belongsTo(secret, account);
}

export function isOwnName(secret: string, { metadata }: Account): boolean {
  return secret.startsWith(`${metadata.name}-token-`);
}

/** Returns the Secret with all its content; the same object when nothing is missing. */
export function filled(
  secret: ReadSecret,
  account: Account,
  content: { readonly token: string | undefined; readonly authority: string },
): ReadSecret | Draft<Secret> {
  const data = { ...secret.data };
  const authority = base64(content.authority);
  if (data['ca.crt'] !== authority) data['ca.crt'] = authority;
  if (!data.namespace) data.namespace = base64(secret.metadata.namespace ?? '');
  if (!data.token && content.token) data.token = base64(content.token);
  const annotations = { ...secret.metadata.annotations, [SERVICE_ACCOUNT_UID]: account.metadata.uid ?? '' };
  return { ...secret, metadata: { ...secret.metadata, annotations }, data };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
