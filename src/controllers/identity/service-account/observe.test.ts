import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { ScriptedApi } from '../../../../test/support/scripted-api.ts';
import { ApiError } from '../../../api/errors.ts';
import { createClient } from '../../../client/client.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { ServiceAccount } from '../../../kinds/groups/core/service-account.ts';
import { observeTokens, type TokenRequest } from './service-account.ts';

const account = (uid: string) => ({ metadata: { name: 'robot', namespace: 'x', uid } });

const secret = (fields: { uid?: string; token?: boolean; deleted?: boolean } = {}) => ({
  metadata: {
    name: 's',
    namespace: 'x',
    uid: 'secret-uid',
    annotations: {
      'kubernetes.io/service-account.name': 'robot',
      ...(fields.uid ? { 'kubernetes.io/service-account.uid': fields.uid } : {}),
    },
    ...(fields.deleted ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
  },
  type: 'kubernetes.io/service-account-token',
  data: fields.token ? { token: 'dA==' } : {},
});

/** `cached` and `served` are the account as the cache and as the server have it. */
function observe(found: object, accounts: { cached?: object; served?: object }, api = new ScriptedApi()) {
  const world = new PlannerWorld();
  world.put(Secret, found);
  if (accounts.cached) world.put(ServiceAccount, accounts.cached);
  if (accounts.served) api.put('serviceaccounts', accounts.served);
  const minted: TokenRequest[] = [];
  const observation = observeTokens('x', world, {
    client: createClient(api),
    signal: new AbortController().signal,
    mintToken: async (request) => {
      minted.push(request);
      return 'signed';
    },
  });
  return { observation, minted, api };
}

it('observeTokens signs a token for a secret that has none, and asks the server for nothing', async () => {
  const { observation, minted, api } = observe(secret(), { cached: account('a') });
  expect((await observation).tokens).toEqual(new Map([['secret-uid', 'signed']]));
  expect(minted).toEqual([{ namespace: 'x', name: 'robot', uid: 'a', secretName: 's', secretUid: 'secret-uid' }]);
  expect(api.requests).toEqual([]);
});

it('observeTokens signs nothing for a secret that has a token, or that is being deleted', async () => {
  for (const found of [secret({ token: true }), secret({ deleted: true })]) {
    const { observation, minted } = observe(found, { cached: account('a') });
    expect(await observation).toEqual({ tokens: new Map(), abandoned: new Set() });
    expect(minted).toEqual([]);
  }
});

it.each([
  ['there is no account', {}, true],
  ['the account is another of the same name', { cached: account('b'), served: account('b') }, true],
  ['only the cache does not show the account', { served: account('a') }, false],
  ['the cache shows an older account', { cached: account('b'), served: account('a') }, false],
])('when %s, the secret is abandoned: %j %s', async (_, accounts, isAbandoned) => {
  const { observation, minted } = observe(secret({ uid: 'a' }), accounts);
  expect((await observation).abandoned.has('secret-uid')).toBe(isAbandoned);
  expect(minted).toEqual([]);
});

it('observeTokens abandons nothing when the server cannot be asked', async () => {
  const api = new ScriptedApi();
  api.reject(() => new ApiError('ServiceUnavailable', 'away'));
  await expect(observe(secret(), {}, api).observation).rejects.toThrow('away');
});
