/**
 * Creates the default service account of every namespace, with a token Secret that it lists; fills token Secrets that users
 * create, and deletes those whose account is gone.
 */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { CONTROLLER_MANAGER } from '../../../client/component-users.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { ServiceAccount } from '../../../kinds/groups/core/service-account.ts';
import {
  type Controller,
  defineController,
  type Listers,
  type ReadTools,
  related,
  type Snapshot,
} from '../../loop/define.ts';
import { type Action, create, type Plan, remove, requeueAfter, update } from '../../loop/plan.ts';
import {
  accountNameOf,
  belongsTo,
  filled,
  hasToken,
  isOwnName,
  isOwnTokenSecret,
  isTokenSecret,
  newTokenSecret,
} from './token-secret.ts';

const DEFAULT = 'default';

export interface ServiceAccountControllerOptions {
  readonly mintToken: MintToken;
  /** The cluster's certificate authority, as PEM. */
  readonly authority: string;
}

/** Plans for a whole namespace: accounts and their token Secrets depend on each other. */
export function serviceAccountController({ mintToken, authority }: ServiceAccountControllerOptions): Controller {
  return defineController<Namespace, TokenObservation>({
    name: 'service-account',
    // Its role has the rights for service accounts and their tokens, as in Kubernetes.
    account: CONTROLLER_MANAGER,
    watches: Namespace,
    also: [
      related(ServiceAccount, ({ metadata }) => [metadata.namespace ?? '']),
      related(Secret, (secret) => (isTokenSecret(secret) ? [secret.metadata.namespace ?? ''] : [])),
    ],
    observe: async (namespace, world, tools) =>
      isKept(namespace) ? observeTokens(world.key.name, world, { ...tools, mintToken }) : NO_TOKENS,
    plan: (namespace, world) => planServiceAccounts(namespace, world, authority),
  });
}

type World = Pick<Snapshot<TokenObservation>, 'of' | 'observed'>;

export function planServiceAccounts(
  namespace: DeepReadonly<Namespace> | undefined,
  world: World,
  authority: string,
): Plan {
  if (!namespace || !isKept(namespace)) return [];
  const { name = '' } = namespace.metadata;
  const account = world.of(ServiceAccount).get(DEFAULT, name);
  const secrets = world
    .of(Secret)
    .list(name)
    .filter((secret) => isTokenSecret(secret) && !secret.metadata.deletionTimestamp);
  return [
    ...(world.observed.isPartial ? [requeueAfter(0)] : []),
    ...secrets.flatMap((secret) => planSecret(secret, world, authority)),
    ...(account
      ? planDefaultAccount(account, secrets, world)
      : [create(ServiceAccount, { metadata: { name: DEFAULT, namespace: name } })]),
  ];
}

function isKept(namespace: DeepReadonly<Namespace> | undefined): boolean {
  return namespace !== undefined && !namespace.metadata.deletionTimestamp;
}

/** Fills a token Secret, or deletes one whose account is gone. */
function planSecret(secret: DeepReadonly<Secret>, { of, observed }: World, authority: string): Action[] {
  const { uid = '', namespace } = secret.metadata;
  if (observed.abandoned.has(uid)) return [remove(Secret, secret)];
  const account = of(ServiceAccount).get(accountNameOf(secret) ?? '', namespace);
  if (!account || !belongsTo(secret, account) || secret.immutable) return [];
  const wanted = filled(secret, account, { token: observed.tokens.get(uid), authority });
  return deepEqual(wanted, secret) ? [] : [update(Secret, wanted)];
}

/** Lists a Secret with a token in the account, and removes our Secrets that are gone. */
function planDefaultAccount(
  account: DeepReadonly<ServiceAccount>,
  secrets: readonly DeepReadonly<Secret>[],
  { observed }: World,
): Action[] {
  if (account.metadata.deletionTimestamp) return [];
  const own = secrets.filter((secret) => isOwnTokenSecret(secret, account));
  if (own.length === 0) return [create(Secret, newTokenSecret(account))];
  const ownNames = new Set(own.map(({ metadata }) => metadata.name ?? ''));
  const listed = (account.secrets ?? []).filter(({ name = '' }) => !isOwnName(name, account) || ownNames.has(name));
  const isListed = listed.some(({ name = '' }) => ownNames.has(name));
  const ready = own.find((secret) => hasToken(secret) || observed.tokens.has(secret.metadata.uid ?? ''));
  const references = isListed || !ready ? listed : [...listed, { name: ready.metadata.name ?? '' }];
  return deepEqual(references, account.secrets ?? [])
    ? []
    : [update(ServiceAccount, { ...account, secrets: references })];
}

/** The account and Secret that a token is for. */
export interface TokenRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly secretName: string;
  readonly secretUid: string;
}

type MintToken = (request: TokenRequest) => Promise<string>;

interface TokenObservation {
  /** New tokens for Secrets without one, by the UID of the Secret. */
  readonly tokens: ReadonlyMap<string, string>;
  /** UIDs of Secrets whose account does not exist. */
  readonly abandoned: ReadonlySet<string>;
  /** Further Secrets are left for the next plan. */
  readonly isPartial?: true;
}

const NO_TOKENS: TokenObservation = { tokens: new Map(), abandoned: new Set() };

/** Signing takes about a millisecond. */
const MAX_SECRETS_PER_PLAN = 50;

type Tools = ReadTools & Pick<ServiceAccountControllerOptions, 'mintToken'>;

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
