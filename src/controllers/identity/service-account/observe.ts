import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Client } from '../../../client/client.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { ServiceAccount } from '../../../kinds/groups/core/service-account.ts';
import type { Listers } from '../../loop/define.ts';
import { accountNameOf, belongsTo, hasToken, isTokenSecret } from './token-secret.ts';

/** The account and Secret that a token is for. */
export interface TokenRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly secretName: string;
  readonly secretUid: string;
}

export type MintToken = (request: TokenRequest) => Promise<string>;

export interface TokenObservation {
  /** New tokens for Secrets without one, by the UID of the Secret. */
  readonly tokens: ReadonlyMap<string, string>;
  /** UIDs of Secrets whose account does not exist. */
  readonly abandoned: ReadonlySet<string>;
  /** Further Secrets are left for the next plan. */
  readonly isPartial?: true;
}

export const NO_TOKENS: TokenObservation = { tokens: new Map(), abandoned: new Set() };

/** Signing takes about a millisecond. */
const MAX_SECRETS_PER_PLAN = 50;

interface Tools {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly mintToken: MintToken;
}

/** Signs missing tokens of a namespace, and reads accounts from the server that the cache does not show. */
export async function observeTokens(namespace: string, world: Listers, tools: Tools): Promise<TokenObservation> {
  const tokens = new Map<string, string>();
  const abandoned = new Set<string>();
  const accountOf = (secret: DeepReadonly<Secret>) => {
    const account = world.of(ServiceAccount).get(accountNameOf(secret) ?? '', namespace);
    return account && belongsTo(secret, account) ? account : undefined;
  };
  const open = world
    .of(Secret)
    .list(namespace)
    .filter(
      (secret) =>
        isTokenSecret(secret) && !secret.metadata.deletionTimestamp && !(accountOf(secret) && hasToken(secret)),
    );
  await Promise.all(
    open.slice(0, MAX_SECRETS_PER_PLAN).map(async (secret) => {
      const { uid = '' } = secret.metadata;
      const account = accountOf(secret);
      if (account) tokens.set(uid, await mint(secret, account, tools.mintToken));
      else if (await isAbandoned(secret, tools)) abandoned.add(uid);
    }),
  );
  // An account that only the server knows yet wakes the namespace when it arrives.
  const isPartial = open.length > MAX_SECRETS_PER_PLAN && tokens.size + abandoned.size > 0;
  return { tokens, abandoned, isPartial: isPartial || undefined };
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

/** The caches of two kinds are not in step: an account may be newer than its cache. */
async function isAbandoned(secret: DeepReadonly<Secret>, { client, signal }: Tools): Promise<boolean> {
  const accounts = client.of(ServiceAccount).in(secret.metadata.namespace);
  const account = await accounts.find(accountNameOf(secret) ?? '', { signal });
  return !account || !belongsTo(secret, account);
}
