import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { serviceAccountTokens, type TokenSubject } from '../../server/authn/service-account.ts';
import { LASTING_ISSUER, tokenSigner } from './service-account-tokens.ts';

const newPem = () =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const pem = newPem();
const account = { namespace: 'shop', name: 'web', uid: 'u-1', secretName: 'web-token-x', secretUid: 's-1' };

function userOf(token: string, key = pem) {
  const asked: TokenSubject[] = [];
  const source = serviceAccountTokens({
    keys: [createPublicKey(key)],
    issuers: [LASTING_ISSUER],
    audiences: [],
    clock: systemClock,
    stillExists: (subject) => asked.push(subject) > 0,
  });
  return { user: source.userOf(token), asked };
}

test('a token is known again as its account, bound to its secret', async () => {
  const { user, asked } = userOf(await tokenSigner(pem)(account));
  expect(user).toMatchObject({ name: 'system:serviceaccount:shop:web', uid: 'u-1' });
  expect(asked).toMatchObject([{ namespace: 'shop', name: 'web', uid: 'u-1', secret: 'web-token-x' }]);
});

test('a token of another key is nobody', async () => {
  expect(userOf(await tokenSigner(newPem())(account)).user).toBeUndefined();
});
