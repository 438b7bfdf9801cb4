import { expect, test } from 'vitest';
import { credentialsFor } from './keyring.ts';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const basic = (name: string) => ({ auth: Buffer.from(`${name}:secret:${name}`).toString('base64') });
const secret = (auths: object) => ({
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': encode({ auths }) },
});

const found = (image: string, auths: object) => credentialsFor(image, [secret(auths)]).map(({ username }) => username);

test('credentials are found by registry and path, the most specific first', () => {
  const auths = {
    'https://index.docker.io/v1/': basic('hub'),
    'registry.example:5000': basic('all'),
    'registry.example:5000/team': basic('team'),
    '*.wild.example': basic('wild'),
  };
  expect(found('nginx:1', auths)).toEqual(['hub']);
  expect(found('library/nginx', auths)).toEqual(['hub']);
  expect(found('registry.example:5000/team/app:2', auths)).toEqual(['team', 'all']);
  expect(found('registry.example:5000/other/app', auths)).toEqual(['all']);
  expect(found('registry.example/app', auths)).toEqual([]);
  expect(found('a.wild.example/app', auths)).toEqual(['wild']);
  expect(found('a.b.wild.example/app', auths)).toEqual([]);
});

test('passwords may contain colons; tokens are passed on', () => {
  const [credentials] = credentialsFor('r.example/a', [secret({ 'r.example': basic('u') })]);
  expect(credentials).toEqual({ username: 'u', password: 'secret:u' });
  const [token] = credentialsFor('r.example/a', [secret({ 'r.example': { identitytoken: 't' } })]);
  expect(token).toMatchObject({ identityToken: 't' });
});

test('the older form is read, and what is malformed gives nothing', () => {
  const data = { '.dockercfg': encode({ 'r.example': { username: 'u', password: 'p' } }) };
  expect(credentialsFor('r.example/a', [{ type: 'kubernetes.io/dockercfg', data }])).toHaveLength(1);
  expect(credentialsFor('r.example/a', [{ type: 'kubernetes.io/dockercfg', data: { '.dockercfg': '!' } }])).toEqual([]);
  expect(credentialsFor('r.example/a', [{ type: 'Opaque', data }])).toEqual([]);
});
