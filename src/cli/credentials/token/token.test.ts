import { createHash, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { testAuthority } from '../../../../test/support/tls.ts';
import { systemRandom } from '../../../base/random.ts';
import { authorityHash, joinCommand, joiningDetails, newToken, reachProblem, secretOf, tokenTable } from './token.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const flags = { ttl: 3_600_000, groups: ['system:bootstrappers:a'], usages: ['signing', 'authentication'] };

test('tokens have the right format, and differ', () => {
  const made = Array.from({ length: 100 }, () => newToken(systemRandom));
  for (const token of made) expect(token).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/);
  expect(new Set(made).size).toBe(100);
});

test('a token becomes the Secret that the server knows', () => {
  expect(secretOf('abcdef.0123456789abcdef', { ...flags, description: 'rack 4' }, NOW)).toEqual({
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      expiration: '2030-01-01T01:00:00Z',
      description: 'rack 4',
      'auth-extra-groups': 'system:bootstrappers:a',
      'usage-bootstrap-signing': 'true',
      'usage-bootstrap-authentication': 'true',
    },
  });
  expect(secretOf('abcdef.0123456789abcdef', { ...flags, ttl: 0 }, NOW).stringData).not.toHaveProperty('expiration');
});

test('what a joining machine needs pins the authority by its key', async () => {
  const { ca } = await testAuthority();
  const key = new X509Certificate(ca).publicKey.export({ type: 'spki', format: 'der' });
  const hash = `sha256:${createHash('sha256').update(key).digest('hex')}`;
  expect(authorityHash(ca)).toBe(hash);
  const details = ['server   https://h:1', 'token    t'];
  expect(joiningDetails('t', { server: 'https://h:1', ca })).toEqual([...details, `ca-hash  ${hash}`]);
  expect(joiningDetails('t', { server: 'https://h:1' })).toEqual(details);
  expect(joinCommand('t', { server: 'https://h:1', ca })).toBe(
    `qd agent --server https://h:1 --token t --ca-hash ${hash}`,
  );
});

test('a list shows tokens without their secrets', () => {
  const data = (given: Record<string, string>) =>
    Object.fromEntries(Object.entries(given).map(([key, value]) => [key, btoa(value)]));
  const secret = (given: Record<string, string>) => ({ metadata: { name: 'x' }, data: data(given) }) as never;
  const lines = tokenTable(
    [
      secret({ 'token-id': 'aaaaaa', 'token-secret': 'hidden', expiration: '2030-01-01T02:30:00Z' }),
      secret({ 'token-id': 'bbbbbb', 'usage-bootstrap-signing': 'true', expiration: '2029-01-01T02:30:00Z' }),
      secret({ 'token-id': 'cccccc', description: 'rack 4' }),
    ],
    NOW,
  );
  expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
    ['ID', 'EXPIRES IN', 'USAGES', 'GROUPS', 'DESCRIPTION'],
    ['aaaaaa', '2h30m', '<none>', '<none>', '<none>'],
    ['bbbbbb', '<expired>', 'signing', '<none>', '<none>'],
    ['cccccc', '<never>', '<none>', '<none>', 'rack 4'],
  ]);
});

test.each([
  ['https://127.0.0.1:6443', true],
  ['https://[::1]:6443', true],
  ['https://localhost:6443', true],
  ['https://192.0.2.2:6443', false],
  ['https://cluster.example', false],
])('for %s, the missing flag is named: %s', (server, isNamed) => {
  expect(reachProblem(server)?.includes('--bind-address') ?? false).toBe(isNamed);
});
