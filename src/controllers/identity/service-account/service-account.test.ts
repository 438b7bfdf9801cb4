import { expect, it } from 'vitest';
import { PlannerWorld, settle } from '../../../../test/support/planner-world.ts';
import { fc, forAllAsync } from '../../../../test/support/property-runs.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { ServiceAccount } from '../../../kinds/groups/core/service-account.ts';
import { planServiceAccounts } from './service-account.ts';
import { accountNameOf, belongsTo, hasToken, isTokenSecret } from './token-secret.ts';

/** Observes the world as the controller observes the server. */
function observe(world: PlannerWorld) {
  const tokens = new Map<string, string>();
  const abandoned = new Set<string>();
  for (const secret of world.of(Secret).list('x').filter(isTokenSecret)) {
    const { uid = '', deletionTimestamp } = secret.metadata;
    if (deletionTimestamp) continue;
    const account = world.of(ServiceAccount).get(accountNameOf(secret) ?? '', 'x');
    if (!account || !belongsTo(secret, account)) abandoned.add(uid);
    else if (!hasToken(secret)) tokens.set(uid, `token of ${uid}`);
  }
  return { tokens, abandoned };
}

const of = (world: PlannerWorld) => ({ of: world.of, observed: observe(world) }) as any;

const account = fc.record({
  name: fc.constantFrom('default', 'robot'),
  secrets: fc.subarray(['default-token-a', 'default-token-gone', 'mine']),
});
const secret = fc.record({
  name: fc.constantFrom('default-token-a', 'default-token-b', 'mine', 'other'),
  type: fc.constantFrom('kubernetes.io/service-account-token', 'Opaque'),
  owner: fc.constantFrom('default', 'robot', 'nobody'),
  uid: fc.constantFrom('right', 'wrong', 'none'),
  token: fc.boolean(),
  ca: fc.constantFrom('Q0E=', 'b2xk', undefined),
  immutable: fc.boolean(),
});

function build(accounts: readonly any[], secrets: readonly any[]) {
  const world = new PlannerWorld();
  const namespace = world.put(Namespace, { metadata: { name: 'x' }, spec: {}, status: {} });
  for (const { name, secrets: listed } of accounts) {
    world.put(ServiceAccount, {
      metadata: { name, namespace: 'x' },
      secrets: listed.map((each: string) => ({ name: each })),
    });
  }
  for (const { name, type, owner, uid, token, ca, immutable } of secrets) {
    const right = world.of(ServiceAccount).get(owner, 'x')?.metadata.uid ?? 'none';
    const annotations = {
      'kubernetes.io/service-account.name': owner,
      ...(uid === 'none' ? {} : { 'kubernetes.io/service-account.uid': uid === 'right' ? right : 'another' }),
    };
    const data = { ...(token ? { token: 'dA==' } : {}), ...(ca ? { 'ca.crt': ca } : {}) };
    world.put(Secret, {
      metadata: { name, namespace: 'x', annotations },
      type,
      data,
      ...(immutable ? { immutable } : {}),
    });
  }
  return { world, namespace };
}

it('planServiceAccounts ends with a default account that lists a token, and removes only what is abandoned', async () => {
  await forAllAsync(
    { numRuns: 300 },
    fc.uniqueArray(account, { selector: ({ name }) => name }),
    fc.uniqueArray(secret, { selector: ({ name }) => name, maxLength: 4 }),
    async (accounts, secrets) => {
      const { world, namespace } = build(accounts, secrets);
      const before = new Map(
        world
          .of(Secret)
          .list('x')
          .map((each) => [each.metadata.name, each]),
      );
      const { abandoned } = observe(world);
      await settle(world, () => planServiceAccounts(namespace, of(world), 'CA'));

      const found = world.of(ServiceAccount).get('default', 'x');
      const listed = (found.secrets ?? []).map(({ name }: any) => world.of(Secret).get(name, 'x'));
      const ours = listed.filter((each: any) => each && isTokenSecret(each) && belongsTo(each, found));
      // A secret that cannot be changed and has no token is all that can stand in the way.
      const stuck = world
        .of(Secret)
        .list('x')
        .some((each) => each.immutable && !hasToken(each) && belongsTo(each, found));
      if (!stuck) expect(ours.some(hasToken)).toBe(true);

      for (const [name, each] of before) {
        const now = world.of(Secret).get(name, 'x');
        if (!isTokenSecret(each)) expect(now).toBe(each);
        else if (!abandoned.has(each.metadata.uid)) expect(now?.metadata.uid).toBe(each.metadata.uid);
        else expect(now).toBeUndefined();
      }
      for (const each of world.of(Secret).list('x')) {
        if (isTokenSecret(each) && !each.immutable) expect(each.data['ca.crt']).toBe('Q0E=');
      }
      // Secrets that users listed in the account stay.
      for (const { name, secrets: names } of accounts) {
        const kept = world
          .of(ServiceAccount)
          .get(name, 'x')
          .secrets.map((each: any) => each.name);
        if (names.includes('mine')) expect(kept).toContain('mine');
        if (name === 'default') expect(kept).not.toContain('default-token-gone');
      }
    },
  );
});

it('planServiceAccounts never replaces an existing token', async () => {
  const { world, namespace } = build(
    [{ name: 'default', secrets: [] }],
    [
      {
        name: 'default-token-a',
        type: 'kubernetes.io/service-account-token',
        owner: 'default',
        uid: 'right',
        token: true,
      },
    ],
  );
  await settle(world, () => planServiceAccounts(namespace, of(world), 'CA'));
  expect(world.of(Secret).get('default-token-a', 'x').data.token).toBe('dA==');
  expect(world.of(Secret).list('x')).toHaveLength(1);
  expect(world.of(ServiceAccount).get('default', 'x').secrets).toEqual([{ name: 'default-token-a' }]);
});

it('planServiceAccounts fills the secret before the account lists it', () => {
  const { world, namespace } = build(
    [{ name: 'default', secrets: [] }],
    [{ name: 'default-token-a', type: 'kubernetes.io/service-account-token', owner: 'default', uid: 'right' }],
  );
  const plan = planServiceAccounts(namespace, of(world), 'CA');
  expect(plan.map((action) => [action.type, 'kind' in action && action.kind.kind])).toEqual([
    ['update', 'Secret'],
    ['update', 'ServiceAccount'],
  ]);
});

it('planServiceAccounts does not remove a secret whose account only the cache does not show', () => {
  const { world, namespace } = build(
    [],
    [{ name: 'early', type: 'kubernetes.io/service-account-token', owner: 'robot', uid: 'none', token: true }],
  );
  const observed = { tokens: new Map(), abandoned: new Set() };
  const plan = planServiceAccounts(namespace, { ...of(world), observed }, 'CA');
  expect(plan.filter(({ type }) => type === 'delete')).toEqual([]);
});

it('planServiceAccounts ignores a namespace that is terminating or gone', () => {
  const { world, namespace } = build(
    [],
    [{ name: 'lost', type: 'kubernetes.io/service-account-token', owner: 'nobody', uid: 'none', token: true }],
  );
  const metadata = { ...namespace.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
  expect(planServiceAccounts({ ...namespace, metadata }, of(world), 'CA')).toEqual([]);
  expect(planServiceAccounts(undefined, of(world), 'CA')).toEqual([]);
});

it('planServiceAccounts plans nothing for a namespace in order', () => {
  const { world, namespace } = build([], []);
  for (let round = 0; round < 4; round++) world.apply(planServiceAccounts(namespace, of(world), 'CA'));
  expect(planServiceAccounts(namespace, of(world), 'CA')).toEqual([]);
  expect(world.of(Secret).list('x')).toHaveLength(1);
});
