import { describe, expect, it } from 'vitest';
import { ApiError, conflict } from '../../api/errors.ts';
import { ConfigMap } from '../../kinds/groups/core/configuration/config-map.ts';
import type { StorageVersionMigration } from '../../kinds/groups/storage/migration/storage-version-migration.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { Plan } from '../loop/plan.ts';
import { type MigratedResource, NO_RESOURCE, planMigration } from './storage-version-migration.ts';

const CREATED = '2030-01-01T00:00:00Z';
const now = new Date('2030-01-01T00:00:10Z');
const later = new Date('2030-01-01T00:02:00Z');

const condition = (type: string, status = 'True') => ({
  ...{ type, status, reason: 'Any', message: '', lastTransitionTime: CREATED },
});

function migration(name: string, status: Partial<StorageVersionMigration['status']> = {}): StorageVersionMigration {
  return {
    apiVersion: 'storagemigration.k8s.io/v1beta1',
    kind: 'StorageVersionMigration',
    metadata: { name, uid: name, creationTimestamp: CREATED },
    spec: { resource: { group: '', resource: 'configmaps' } },
    status,
  };
}

const running = migration('m', { conditions: [condition('Running')], resourceVersion: '7' });
const outdated = ['a', 'b'].map((name) => ({ metadata: { name, namespace: 'x', uid: name, resourceVersion: '5' } }));
const found: MigratedResource = { ...NO_RESOURCE, kind: ConfigMap, resourceVersion: '7' };

interface Case {
  readonly observed?: MigratedResource;
  readonly failures?: readonly Error[];
  readonly all?: readonly StorageVersionMigration[];
  readonly at?: Date;
}

function plan(object: StorageVersionMigration, { observed = found, failures = [], all = [object], at = now }: Case) {
  const of = () => ({ list: () => all }) as any;
  return planMigration(object, { observed, failures: failures.map((error) => ({ error })), of }, at);
}

/** The status that a plan writes, as types and values of its conditions. */
function written(actions: Plan): any {
  const action = actions.at(-1);
  if (action?.type !== 'updateStatus') return undefined;
  const { conditions, ...rest } = (action.object as any).status;
  return { ...rest, ...Object.fromEntries(conditions.map(({ type, status }: any) => [type, status])) };
}

it('planMigration begins with the version that the resource is at', () => {
  expect(written(plan(migration('m'), {}))).toEqual({ resourceVersion: '7', Running: 'True' });
});

it('planMigration has every object written again that was not written since, and then succeeds', () => {
  const actions = plan(running, { observed: { ...found, outdated } });
  expect(actions.slice(0, -1)).toEqual(
    outdated.map((object) => ({
      ...{ type: 'patch', kind: ConfigMap, object },
      patch: { type: 'merge', changes: { metadata: { uid: object.metadata.uid, resourceVersion: '5' } } },
    })),
  );
  expect(written(actions)).toEqual({ resourceVersion: '7', Running: 'False', Succeeded: 'True' });
});

describe('planMigration of a custom kind', () => {
  const definition = (generation: number, conditions: object[] = []): any => ({
    metadata: { name: 'd', uid: 'u', resourceVersion: '3', generation },
    spec: { versions: [{ name: 'v1' }, { name: 'v2', storage: true }] },
    status: { storedVersions: ['v1', 'v2'], conditions: [condition('Established'), ...conditions] },
  });
  const marked = { ...condition('StorageMigrating'), observedGeneration: 2 };
  const patched = (object: StorageVersionMigration, more: Case) => {
    const [patch] = plan(object, more) as any[];
    expect(patch).toMatchObject({ type: 'patch', subresource: 'status', object: { metadata: { name: 'd' } } });
    expect(patch.patch.changes.metadata).toEqual({ uid: 'u', resourceVersion: '3' });
    return patch.patch.changes.status;
  };
  const said = (status: string, reason: string, message: string) => ({
    ...{ type: 'StorageMigrating', status, reason, message, observedGeneration: 2 },
    lastTransitionTime: '2030-01-01T00:00:10Z',
  });

  it('is noted in its definition', () => {
    expect(patched(migration('m'), { observed: { ...found, definition: definition(2) } })).toEqual({
      conditions: [condition('Established'), said('True', 'MigrationRunning', 'Migration m is running')],
    });
  });

  it('has the definition forget versions in which nothing is stored', () => {
    const message = 'The migration has succeeded and the stored versions have been updated';
    expect(patched(running, { observed: { ...found, definition: definition(2, [marked]) } })).toEqual({
      storedVersions: ['v2'],
      conditions: [condition('Established'), said('False', 'MigrationSucceeded', message)],
    });
  });

  it('leaves the stored versions of a definition that has changed meanwhile', () => {
    const status = patched(running, { observed: { ...found, definition: definition(3, [marked]) } });
    expect(status).not.toHaveProperty('storedVersions');
    expect(status.conditions[1].message).toBe(
      'The migration has succeeded but the stored versions have not been updated due to a generation mismatch',
    );
  });

  it('says when it has failed', () => {
    const observed = { ...found, definition: definition(2, [marked]) };
    const status = patched(running, { observed, failures: [new ApiError('Forbidden', 'no')] });
    expect(status.conditions[1]).toEqual(said('False', 'MigrationFailed', 'The migration has failed'));
  });
});

it.each(['Succeeded', 'Failed'])('planMigration plans nothing once it has %s', (type) => {
  expect(plan(migration('m', { conditions: [condition(type)] }), {})).toEqual([]);
});

it('planMigration waits for the resource for a minute', () => {
  expect(plan(migration('m'), { observed: NO_RESOURCE })).toMatchObject([{ type: 'requeueAfter' }]);
  const actions = plan(migration('m'), { observed: NO_RESOURCE, at: later });
  expect(written(actions)).toEqual({ Failed: 'True', Running: 'False' });
  expect((actions[0] as any).object.status.conditions[0].message).toBe('resource does not exist in discovery');
});

it('planMigration fails for a resource that cannot be written', () => {
  const kind: Kind = { ...ConfigMap, verbs: ['get', 'list'] };
  const [action] = plan(migration('m'), { observed: { ...found, kind } }) as any[];
  expect(action.object.status.conditions[0].message).toBe(
    'resource "v1, Resource=configmaps" does not support discovery operations: [update patch list]',
  );
});

it('planMigration fails when an object is rejected, and not when somebody else has written it', () => {
  const rejected = plan(running, { failures: [new ApiError('Forbidden', 'no')] });
  expect((rejected[0] as any).object.status.conditions.at(-1)).toBeDefined();
  expect(written(rejected)).toMatchObject({ Failed: 'True' });
  const conflicts = [conflict({ group: '', plural: 'configmaps' }, 'a'), new ApiError('TooManyRequests', 'later')];
  expect(written(plan(running, { failures: conflicts }))).toMatchObject({ Succeeded: 'True' });
});

it('planMigration runs one migration of a resource at a time, the oldest first', () => {
  const [first, second] = [migration('a'), migration('b')];
  const all = [second, first];
  expect(plan(second, { all })).toEqual([]);
  expect(plan(first, { all })).toHaveLength(1);
  expect(plan(first, { all: [first, { ...running, metadata: { ...running.metadata, name: 'z' } }] })).toEqual([]);
  const ended = migration('a', { conditions: [condition('Succeeded')] });
  expect(plan(second, { all: [second, ended] })).toHaveLength(1);
});
