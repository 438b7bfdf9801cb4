import { expect, it } from 'vitest';
import { bytesUsed } from '../../../../../test/support/heap.ts';
import { testServer } from '../../../../../test/support/server.ts';
import { ConfigMap } from '../../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import type { Entry } from '../entry/entry.ts';
import { Table } from '../table.ts';
import { ChangeHistory } from './change-history.ts';
import { ChangeRecord } from './change-record.ts';

it('counts the memory of a change besides the object before it', () => {
  const history = new ChangeHistory({ milliseconds: 60_000, bytes: 100 * 1024 });
  const table = new Table('configmaps');
  const at = { key: '/registry/configmaps/default/a', namespace: 'default', name: 'a' };
  for (let revision = 1; revision <= 1000; revision++) {
    history.push({ record: new ChangeRecord(revision, at, undefined, undefined), table, time: 0 });
  }
  expect(history.trim(0)).toBe(900);
  expect(table.changesAfter(0)).toHaveLength(100);
});

it('drops decoded objects and the bytes of events after a short time', async () => {
  const api = await testServer([Namespace, ConfigMap]);
  await api.create('configmaps', { metadata: { name: 'a' }, data: { key: 'value' } });
  const watch = await api.watch('configmaps', { options: { fieldSelector: 'metadata.name=a' } });
  await api.delete('configmaps', 'a');
  const deleted = (await watch.next(2)).at(-1)!;
  const object = deleted.object;
  const json = deleted.json();
  expect(deleted.object).toBe(object);
  expect(deleted.json()).toBe(json);
  await api.clock.advance(3_000);
  await api.create('configmaps', { metadata: { name: 'b' } });
  expect(deleted.object).not.toBe(object);
  expect(deleted.object).toEqual(object);
  expect(deleted.json()).not.toBe(json);
  expect(deleted.json()).toEqual(json);
});

it('keeps changes that were read from the store no longer than the ones after them', () => {
  const history = new ChangeHistory({ milliseconds: 10_000, bytes: 2 ** 30 });
  const table = new Table('configmaps');
  const change = (revision: number, time: number) => {
    const record = new ChangeRecord(revision, { key: '', namespace: '', name: '' }, undefined, undefined);
    return { record, table, time };
  };
  history.push(change(3, 1_000));
  history.push(change(4, 9_000));
  history.prepend([change(1, 8_000), change(2, 8_000)]);
  expect(history.trim(11_500)).toBe(3);
  expect(table.changesAfter(0)).toHaveLength(1);
});

it('settles changes once, even after older ones were dropped', () => {
  const history = new ChangeHistory({ milliseconds: 10_000, bytes: 2 ** 30 });
  const table = new Table('configmaps');
  const settled: number[] = [];
  for (let time = 0; time < 10_000; time++) {
    const record = new ChangeRecord(time, { key: '', namespace: '', name: '' }, undefined, undefined);
    record.settle = () => settled.push(time);
    history.push({ record, table, time });
  }
  history.trim(12_000);
  expect(settled).toEqual(Array.from({ length: 8_000 }, (_, i) => i + 2_000));
  history.trim(18_000);
  history.trim(30_000);
  expect(settled).toHaveLength(8_000);
});

it('keeps nothing of dropped changes', () => {
  const MB = 1_000_000;
  const history = new ChangeHistory({ milliseconds: 60_000, bytes: 5 * MB });
  const table = new Table('configmaps');
  const at = { key: '/registry/configmaps/default/a', namespace: 'default', name: 'a' };
  const before = bytesUsed();
  for (let revision = 1; revision <= 100; revision++) {
    const previous = { size: MB, stored: Buffer.alloc(MB, 1) } as unknown as Entry;
    history.push({ record: new ChangeRecord(revision, at, undefined, previous), table, time: 0 });
    history.trim(0);
  }
  expect(bytesUsed() - before).toBeLessThan(10 * MB);
  expect(table.changesAfter(0).map(({ revision }) => revision)).toEqual([97, 98, 99, 100]);
});
