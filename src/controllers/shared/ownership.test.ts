import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../test/support/planner-world.ts';
import { ScriptedApi, type TestObject, testKind } from '../../../test/support/scripted-api.ts';
import { createClient } from '../../client/client.ts';
import { claim, compiledSelector, type Ownership, observeAdoption, orphansOf } from './ownership.ts';

const Owner = testKind<TestObject>('owners', 'Owner', 'Namespaced');
const Thing = testKind<TestObject>('things', 'Thing', 'Namespaced');
const ownership: Ownership<any, any> = {
  owner: Owner,
  kind: Thing,
  selector: ({ spec }) => compiledSelector(spec.selector),
  counts: ({ spec }) => !spec?.ended,
};
const labels = { app: 'a' };
const reference = (uid: string) => ({ apiVersion: 'v1', kind: 'Owner', name: 'o', uid, controller: true });

function setUp(metadata: object = {}) {
  const world = new PlannerWorld();
  const owner = world.put(Owner, {
    metadata: { name: 'o', namespace: 'x', uid: 'o', ...metadata },
    spec: { selector: { matchLabels: labels } },
  });
  const thing = (name: string, fields: object = {}, spec: object = {}) =>
    world.put(Thing, { metadata: { name, namespace: 'x', uid: name, labels, ...fields }, spec });
  return { world, owner, thing };
}
const names = (objects: readonly any[]) => objects.map(({ metadata }) => metadata.name);

it('a claim adopts matching objects without a controller, and releases what no longer matches', () => {
  const { world, owner, thing } = setUp();
  thing('mine', { ownerReferences: [reference('o')] });
  thing('strayed', { ownerReferences: [reference('o')], labels: {} });
  thing('orphan');
  thing('owned', { ownerReferences: [{ ...reference('other'), controller: false }] });
  thing('foreign', { ownerReferences: [reference('other')] });
  thing('going', { deletionTimestamp: '2030-01-01T00:00:00Z' });
  thing('ended', {}, { ended: true });
  thing('elsewhere', { namespace: 'y' });
  const { mine, actions } = claim(owner, ownership, { world, mayAdopt: true });
  expect(names(mine)).toEqual(['mine', 'orphan', 'owned']);
  expect(actions.map((action: any) => [action.object.metadata.name, action.patch.changes.metadata])).toEqual([
    ['strayed', { uid: 'strayed', ownerReferences: [{ $patch: 'delete', uid: 'o' }] }],
    ['orphan', { uid: 'orphan', ownerReferences: [{ ...reference('o'), blockOwnerDeletion: true }] }],
    ['owned', { uid: 'owned', ownerReferences: [{ ...reference('o'), blockOwnerDeletion: true }] }],
  ]);
  world.apply(actions);
  expect(names(world.of(Thing).controlledBy('o'))).toEqual(['mine', 'orphan', 'owned']);
  expect(names(world.of(Thing).ownedBy('other'))).toEqual(['owned', 'foreign']);
});

it('a claim changes nothing when the owner is being deleted', () => {
  const { world, owner, thing } = setUp({ deletionTimestamp: '2030-01-01T00:00:00Z' });
  thing('mine', { ownerReferences: [reference('o')] });
  thing('strayed', { ownerReferences: [reference('o')], labels: {} });
  thing('orphan');
  const { mine, actions } = claim(owner, ownership, { world, mayAdopt: true });
  expect(names(mine)).toEqual(['mine']);
  expect(actions).toEqual([]);
});

const observe = async (stored: object | undefined, { withOrphan = true } = {}) => {
  const { world, owner, thing } = setUp();
  if (withOrphan) thing('orphan');
  const api = new ScriptedApi();
  if (stored) api.put('owners', { metadata: { name: 'o', namespace: 'x', uid: 'o', ...stored } });
  const tools = { client: createClient(api), signal: new AbortController().signal };
  const mayAdopt = await observeAdoption(owner, ownership, { world, ...tools });
  return { mayAdopt, asked: api.requests.length };
};

it('adopting reads the owner from the server, and only when there is an orphan', async () => {
  expect(await observe({})).toEqual({ mayAdopt: true, asked: 1 });
  expect(await observe({}, { withOrphan: false })).toEqual({ mayAdopt: false, asked: 0 });
});

it('adopting is denied to an owner that is deleted, gone or replaced', async () => {
  expect((await observe({ deletionTimestamp: '2030-01-01T00:00:00Z' })).mayAdopt).toBe(false);
  expect((await observe({ uid: 'another' })).mayAdopt).toBe(false);
  expect((await observe(undefined)).mayAdopt).toBe(false);
});

it('an orphan wakes every owner that could adopt it, and none when it has a controller', () => {
  const { world, thing } = setUp();
  const { keysOf } = orphansOf(ownership);
  expect(keysOf(thing('orphan'), world)).toEqual(['x/o']);
  expect(keysOf(thing('managed', { ownerReferences: [reference('other')] }), world)).toEqual([]);
  expect(keysOf(thing('different', { labels: {} }), world)).toEqual([]);
});
