import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock, systemClock } from '../../base/time/clock.ts';
import type { Kind } from '../../kinds/kind.ts';
import { legacyTokenSigner } from '../../server/access/authn/tokens/legacy-token-signer.ts';
import { ServiceAccountTokens } from '../../server/access/authn/tokens/service-account-tokens.ts';
import { tokenSettings } from './service-account-tokens.ts';

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const pemOf = (key = newKey()) => key.export({ type: 'pkcs8', format: 'pem' }) as string;
const pem = pemOf();
const account = { namespace: 'shop', name: 'web', uid: 'u-1', secretName: 'web-token-x', secretUid: 's-1' };

function userOf(token: string, key = pem) {
  const content = { metadata: { uid: 'u-1' }, data: { token: btoa(token) } };
  const source = new ServiceAccountTokens({
    keys: [createPublicKey(key)],
    issuers: [],
    audiences: [],
    clock: systemClock,
    find: (_kind: Kind, namespace) => (namespace === 'shop' ? { revision: 1, hub: () => content as never } : undefined),
  });
  return source.userOf(token);
}

test('a token from a Secret is authenticated as its account', async () => {
  const token = await legacyTokenSigner(createPrivateKey(pem))(account);
  expect(userOf(token)).toMatchObject({ name: 'system:serviceaccount:shop:web', uid: 'u-1' });
});

test('a token signed with another key is rejected', async () => {
  expect(userOf(await legacyTokenSigner(createPrivateKey(pem))(account), pemOf())).toBeUndefined();
});

test('bound tokens have the first issuer and the configured audiences, and are accepted with any key that was in use', () => {
  const former = newKey();
  const formerPem = createPublicKey(former).export({ type: 'spki', format: 'pem' }) as string;
  const settings = tokenSettings(
    {
      issuers: ['https://new.example', 'https://old.example'],
      maxLifetimeMs: 7_200_000,
    },
    { serviceAccountKey: pem, formerServiceAccountKeys: [formerPem] },
    systemRandom,
  );
  expect(settings.audiences).toEqual(['https://new.example', 'https://old.example']);
  expect(settings.keys).toHaveLength(2);
  expect(settings.bound.maxSeconds).toBe(7200);
  const clock = new ControlledClock();
  const bound = {
    namespace: 'shop',
    account: { name: 'web', uid: 'u-1' },
    audiences: ['https://old.example'],
    now: clock.now() / 1000,
    seconds: 600,
  };
  const token = settings.bound.issue(bound);
  const source = new ServiceAccountTokens({
    ...settings,
    clock,
    find: () => ({ revision: 1, hub: () => ({ metadata: { uid: 'u-1' } }) as never }),
  });
  expect(source.userOf(token)).toMatchObject({ name: 'system:serviceaccount:shop:web' });
  const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
  expect(claims).toMatchObject({ iss: 'https://new.example', exp: bound.now + 600, aud: ['https://old.example'] });
});
