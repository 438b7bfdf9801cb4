import { expect, it } from 'vitest';
import type { Authorizer, Decision } from './authorizer.ts';
import { alwaysAllow, alwaysDeny, createAuthorizer } from './modes.ts';
import { Union } from './union.ts';

const asked = { user: { name: 'ann', groups: [] as string[] }, verb: 'get', path: '/' };
const saying = (decision: Decision | Promise<Decision>): Authorizer => ({
  authorize: () => decision,
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
});
const silent = saying({ verdict: 'noOpinion', reason: '' });
const no = saying({ verdict: 'deny', reason: 'never' });
const later = (decision: Decision) => saying(Promise.resolve(decision));

it('the first authorizer with an opinion decides', async () => {
  expect(new Union([silent, no, alwaysAllow]).authorize(asked)).toEqual({ verdict: 'deny', reason: 'never' });
  expect(new Union([silent, alwaysAllow, no]).authorize(asked)).toMatchObject({ verdict: 'allow' });
  const waiting = new Union([later({ verdict: 'noOpinion', reason: 'a' }), no]).authorize(asked);
  expect(await waiting).toEqual({ verdict: 'deny', reason: 'never' });
});

it('combines all reasons when no authorizer decides', async () => {
  const union = new Union([
    saying({ verdict: 'noOpinion', reason: 'a' }),
    later({ verdict: 'noOpinion', reason: '', error: 'gone' }),
    saying({ verdict: 'noOpinion', reason: 'b' }),
  ]);
  expect(await union.authorize(asked)).toEqual({ verdict: 'noOpinion', reason: 'a\nb', error: 'gone' });
});

it('allows masters everything, even if an authorizer denies it', () => {
  const user = { name: 'root', groups: ['system:masters'] };
  expect(new Union([no]).authorize({ ...asked, user })).toMatchObject({ verdict: 'allow' });
});

it('a union is created from modes, in order', () => {
  const sorts = { node: () => silent, rbac: () => silent, webhook: () => no };
  expect(createAuthorizer(['AlwaysAllow'], sorts)).toBe(alwaysAllow);
  expect(createAuthorizer(['RBAC', 'AlwaysDeny'], sorts).authorize(asked)).toEqual(alwaysDeny.authorize(asked));
  expect(createAuthorizer(['RBAC', 'Webhook', 'AlwaysAllow'], sorts).authorize(asked)).toMatchObject({
    reason: 'never',
  });
  expect(createAuthorizer(['Node', 'AlwaysAllow', 'Webhook'], sorts).authorize(asked)).toMatchObject({
    verdict: 'allow',
  });
});
