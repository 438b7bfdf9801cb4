import { expect, it } from 'vitest';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { bootstrapTokens } from './bootstrap-token.ts';

const TOKEN = 'abcdef.0123456789abcdef';
const DATA = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' };

interface Given {
  data?: Record<string, string>;
  type?: string;
  metadata?: object;
}

function userOf(token: string, { data = {}, type = 'bootstrap.kubernetes.io/token', metadata = {} }: Given = {}) {
  const encoded = Object.entries({ ...DATA, ...data }).map(([key, value]) => [key, btoa(value)]);
  const secret = { type, metadata, data: Object.fromEntries(encoded) };
  return bootstrapTokens({
    clock: new ControlledClock(),
    find: (kind, namespace, name) =>
      kind.kind === 'Secret' && namespace === 'kube-system' && name === 'bootstrap-token-abcdef'
        ? { revision: 1, hub: () => secret as never }
        : undefined,
  }).userOf(token);
}

it('authenticates a joining node, with the groups of its Secret', () => {
  expect(userOf(TOKEN)).toEqual({
    name: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers', 'system:authenticated'],
  });
  const groups = 'system:bootstrappers:b,system:bootstrappers:a';
  const given = { 'auth-extra-groups': groups, expiration: '2030-01-01T00:00:01Z' };
  expect(userOf(TOKEN, { data: given })).toMatchObject({
    groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:b', 'system:authenticated'],
  });
});

it.each<[string, string, Given?]>([
  ['another secret', 'abcdef.0123456789abcdeg'],
  ['another token', 'abcdeg.0123456789abcdef'],
  ['another shape', 'abcdef-0123456789abcdef'],
  ['its time passed', TOKEN, { data: { expiration: '2030-01-01T00:00:00Z' } }],
  ['a time that cannot be read', TOKEN, { data: { expiration: 'tomorrow' } }],
  ['another use', TOKEN, { data: { 'usage-bootstrap-authentication': 'false' } }],
  ['another id in the Secret', TOKEN, { data: { 'token-id': 'abcdeg' } }],
  ['groups that are not for joining', TOKEN, { data: { 'auth-extra-groups': 'system:masters' } }],
  ['a Secret of another type', TOKEN, { type: 'Opaque' }],
  ['a Secret on its way out', TOKEN, { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }],
])('rejects a token with %s', (_, token, given) => {
  expect(userOf(token, given)).toBeUndefined();
});
