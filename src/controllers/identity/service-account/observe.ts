import { isApiError } from '../../../base/errors.ts';
import type { Client } from '../../../client/client.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import { Secret } from '../../../kinds/groups/core/secret.ts';
import { ServiceAccount } from '../../../kinds/groups/core/service-account.ts';
import type { Listers } from '../../loop/define.ts';
import { accountNameOf, belongsTo, hasToken, isTokenSecret } from './token-secret.ts';

/** Whom a token is for. */
export interface TokenRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly secretName: string;
  readonly secretUid: string;
}

export type MintToken = (request: TokenRequest) => Promise<string>;

export interface TokenObservation {
  /** Signed tokens for secrets that have none, by the uid of the secret. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Uids of secrets whose account the server does not have. */
  readonly abandoned: ReadonlySet<string>;
}

export const NOTHING: TokenObservation = { tokens: new Map(), abandoned: new Set() };

interface Tools {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly mintToken: MintToken;
}

/** Signs the tokens that are missing in a namespace, and asks the server for accounts that the cache does not show. */
export async function observeTokens(namespace: string, world: Listers, tools: Tools): Promise<TokenObservation> {
  const tokens = new Map<string, string>();
  const abandoned = new Set<string>();
  const secrets = world.of(Secret).list(namespace).filter(isTokenSecret);
  await Promise.all(
    secrets.map(async (secret) => {
      const { uid = '', deletionTimestamp } = secret.metadata;
      if (deletionTimestamp) return;
      const account = world.of(ServiceAccount).get(accountNameOf(secret) ?? '', namespace);
      if (account && belongsTo(secret, account)) {
        if (!hasToken(secret)) tokens.set(uid, await mint(secret, account, tools.mintToken));
      } else if (await isAbandoned(secret, tools)) abandoned.add(uid);
    }),
  );
  return { tokens, abandoned };
}

function mint(
  secret: DeepReadonly<Secret>,
  account: DeepReadonly<ServiceAccount>,
  mintToken: MintToken,
): Promise<string> {
  const { name = '', uid = '', namespace = '' } = account.metadata;
  return mintToken({
    namespace,
    name,
    uid,
    secretName: secret.metadata.name ?? '',
    secretUid: secret.metadata.uid ?? '',
  });
}

/** The caches of two kinds do not move together: an account can be newer than what its cache shows. */
async function isAbandoned(secret: DeepReadonly<Secret>, { client, signal }: Tools): Promise<boolean> {
  try {
    const accounts = client.of(ServiceAccount).in(secret.metadata.namespace);
    return !belongsTo(secret, await accounts.get(accountNameOf(secret) ?? '', { signal }));
  } catch (error) {
    if (isApiError(error, 'NotFound')) return true;
    throw error;
  }
}
