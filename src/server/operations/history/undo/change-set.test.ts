import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kinds/kind.ts';
import type { ArchivedChange } from '../../../../store/archive/archive.ts';
import type { Origin } from '../../../../store/store.ts';
import { ChangeSet, type SetRange } from './change-set.ts';
import { isComponent } from './component.ts';

const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';
const map = (name: string) => `/registry/core/configmaps/default/${name}`;

interface Step {
  readonly key: string;
  readonly user: string;
  /** The state after the change; undefined deletes. */
  readonly state?: Partial<KubeObject> & { data?: object };
  readonly status?: boolean;
}

/** Collects changes with the revisions 11, 12 and so on. Objects in `existing` were there before. */
async function collected(
  steps: readonly Step[],
  range: Partial<SetRange> = {},
  existing: Readonly<Record<string, object>> = {},
) {
  const last = new Map(Object.entries(existing).map(([key, object]) => [key, { revision: 1, value: encoded(object) }]));
  const changes: ArchivedChange[] = [];
  const previous = new Map<number, Buffer | undefined>();
  for (const [index, { key, user, state, status }] of steps.entries()) {
    const revision = 11 + index;
    const origin: Origin = { user, isStatus: status };
    const replaced = last.get(key);
    previous.set(revision, replaced?.value);
    const value = state ? encoded(state) : null;
    changes.push({ key, revision, time: 0, origin, value, replaced: replaced?.revision ?? 0 });
    if (value) last.set(key, { revision, value });
    else last.delete(key);
  }
  const archive = {
    async *changes() {
      yield* changes;
    },
    async get(_: string, revision: number) {
      const value = previous.get(revision + 1);
      return value && { value };
    },
  };
  const all = { since: 10, until: 1000, namespace: undefined, user: undefined, ...range };
  const set = new ChangeSet(archive, all);
  for (const change of changes) await set.add(change);
  return set.objects.map(({ key, before, conflict }) => ({
    name: key.slice(key.lastIndexOf('/') + 1),
    before,
    conflict: conflict?.origin?.user,
  }));
}

function encoded(object: object): Buffer {
  const { metadata, ...rest } = object as KubeObject;
  return Buffer.from(JSON.stringify({ ...rest, metadata: { uid: 'u', ...metadata } }));
}

const state = (color: string, metadata: object = {}) => ({ data: { color }, metadata }) as Step['state'] & object;

describe('a set of changes', () => {
  it('has the objects that people changed, from their first change on', async () => {
    const steps = [
      { key: map('a'), user: 'joe', state: state('red') },
      { key: map('b'), user: 'ann', state: state('red') },
      { key: map('a'), user: 'joe', state: state('blue') },
      { key: map('c'), user: COLLECTOR, state: state('red') },
    ];
    const [a, b] = [
      { name: 'a', before: 10, conflict: undefined },
      { name: 'b', before: 11, conflict: undefined },
    ];
    expect(await collected(steps)).toEqual([a, b]);
    expect(await collected(steps, { user: 'ann' })).toEqual([b]);
    expect(await collected(steps, { until: 11 })).toEqual([{ ...a, conflict: 'joe' }]);
    expect(await collected(steps, { namespace: 'other' })).toEqual([]);
  });

  it('has the Namespace object of its namespace', async () => {
    const steps = [{ key: '/registry/core/namespaces/default', user: 'joe', state: state('red') }];
    expect(await collected(steps, { namespace: 'default' })).toHaveLength(1);
  });

  it('leaves out changes of the status', async () => {
    expect(await collected([{ key: map('a'), user: 'joe', state: state('red'), status: true }])).toEqual([]);
  });

  it('has what is deleted because its owner or its namespace was', async () => {
    const owned = { uid: 'u-owned', ownerReferences: [{ uid: 'u-owner' }] };
    const existing = {
      [map('owner')]: state('red', { uid: 'u-owner' }),
      [map('owned')]: state('red', owned),
      '/registry/core/namespaces/n': state('red', { uid: 'u-n' }),
      '/registry/core/configmaps/n/in': state('red'),
      [map('other')]: state('red'),
    };
    const steps = [
      { key: map('owner'), user: 'joe' },
      { key: map('owned'), user: COLLECTOR },
      { key: '/registry/core/namespaces/n', user: 'joe', state: state('red', { deletionTimestamp: 'now' }) },
      { key: '/registry/core/configmaps/n/in', user: 'system:serviceaccount:kube-system:namespace-controller' },
      { key: map('other'), user: COLLECTOR },
    ];
    const names = (await collected(steps, { user: 'joe' }, existing)).map(({ name }) => name);
    expect(names).toEqual(['owner', 'owned', 'n', 'in']);
  });
});

describe('a later change of somebody else', () => {
  const mine = { key: map('a'), user: 'joe', state: state('blue') };
  const existing = { [map('a')]: state('red') };
  const conflict = async (...later: Step[]) =>
    (await collected([mine, ...later], { user: 'joe' }, existing))[0]?.conflict;

  it('is a conflict when it changes the content, or deletes the object', async () => {
    expect(await conflict({ key: map('a'), user: 'ann', state: state('green') })).toBe('ann');
    expect(await conflict({ key: map('a'), user: 'ann' })).toBe('ann');
  });

  it('is none when it changes nothing, or comes from a component', async () => {
    expect(await conflict({ key: map('a'), user: 'ann', state: state('blue', { generation: 2 }) })).toBeUndefined();
    expect(await conflict({ key: map('a'), user: COLLECTOR, state: state('green') })).toBeUndefined();
  });

  it('is none when it ends the deletion that the set began', async () => {
    const begun = { key: map('a'), user: 'joe', state: state('red', { deletionTimestamp: 'now', finalizers: ['x'] }) };
    const ended = [
      { key: map('a'), user: 'operator', state: state('red', { deletionTimestamp: 'now' }) },
      { key: map('a'), user: 'operator' },
    ];
    const [object] = await collected([begun, ...ended], { user: 'joe' }, existing);
    expect(object?.conflict).toBeUndefined();
  });
});

it.each([
  ['joe', false],
  ['system:admin', false],
  ['system:unsecured', false],
  ['system:serviceaccount:shop:deployer', false],
  [undefined, false],
  ['system:node:n1', true],
  ['system:kube-scheduler', true],
  [COLLECTOR, true],
])('the user %s is a component: %s', (user, expected) => {
  expect(isComponent(user)).toBe(expected);
});
