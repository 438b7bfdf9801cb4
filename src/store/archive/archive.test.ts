import { appendFile, mkdir, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { scratchDirectories } from '../../../test/support/store-directories.ts';
import { type Logger, silent } from '../../base/log.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import type { Origin, Store } from '../store.ts';
import type { Archive, ArchivedChange, RewritableArchive } from './archive.ts';
import { type ArchiveOptions, openArchive } from './open.ts';

const directory = await scratchDirectories();
const opened: RewritableArchive[] = [];

afterEach(async () => {
  for (const archive of opened.splice(0)) await archive.close();
});

const DAY_MS = 86_400_000;
const alice: Origin = {
  user: 'alice',
  client: 'kubectl/v1.36',
  manager: 'kubectl-edit',
  request: 'r1',
  isStatus: false,
};
const status: Origin = { user: 'system:node:n', request: 's', isStatus: true };

interface Case {
  readonly store: Store;
  readonly clock: ControlledClock;
  readonly options: ArchiveOptions;
  readonly archive: RewritableArchive;
}

async function start(more: Partial<ArchiveOptions> = {}): Promise<Case> {
  const clock = new ControlledClock();
  const store = more.store ?? new MemoryStore({ clock, historyMilliseconds: Number.POSITIVE_INFINITY });
  const options: ArchiveOptions = {
    directory: directory(),
    clock,
    log: silent,
    milliseconds: 7 * DAY_MS,
    bytes: 2 ** 31,
    prefix: '/registry/',
    except: ['/registry/leases/'],
    store: store as Store,
    ...more,
  };
  return { store: store as Store, clock, options, archive: await open(options) };
}

async function open(options: ArchiveOptions): Promise<RewritableArchive> {
  const archive = await openArchive(options);
  opened.push(archive);
  return archive;
}

const put = (store: Store, name: string, value: string | null, origin?: Origin) =>
  store.commit([{ key: `/registry/${name}`, value: value === null ? null : Buffer.from(value) }], [], origin);

async function state(archive: Archive, revision: number, prefix = '/registry/'): Promise<Record<string, string>> {
  const { rows } = await archive.list(prefix, { revision });
  return Object.fromEntries(rows.map((row) => [row.key.replace('/registry/', ''), String(row.value)]));
}

async function changesOf(archive: Archive, range: Parameters<Archive['changes']>[0] = {}): Promise<ArchivedChange[]> {
  const changes: ArchivedChange[] = [];
  for await (const change of archive.changes(range)) changes.push(change);
  return changes;
}

const brief = (changes: readonly ArchivedChange[]) =>
  changes.map(({ key, value, origin }) => [key.replace('/registry/', ''), value && String(value), origin?.user]);

describe('the archive of a store', () => {
  it('begins with the present state, and reads every state since', async () => {
    const clock = new ControlledClock();
    const store = new MemoryStore({ clock });
    const early = await put(store, 'a/1', 'old');
    await put(store, 'leases/x', 'beat');
    const begun = await put(store, 'b/1', 'old');
    const { archive } = await start({ store, clock });
    await archive.reached(begun);
    expect(archive.bounds().oldest.revision).toBe(begun);
    const second = await put(store, 'a/1', 'new', alice);
    const third = await put(store, 'b/1', null, alice);
    const fourth = await put(store, 'b/1', 'again');
    await archive.reached(fourth);
    expect(await state(archive, begun)).toEqual({ 'a/1': 'old', 'b/1': 'old' });
    expect(await state(archive, second)).toEqual({ 'a/1': 'new', 'b/1': 'old' });
    expect(await state(archive, third)).toEqual({ 'a/1': 'new' });
    expect(await state(archive, fourth, '/registry/b/')).toEqual({ 'b/1': 'again' });
    expect(await archive.get('/registry/a/1', begun)).toMatchObject({ revision: early });
    expect(await archive.get('/registry/b/1', third)).toBeUndefined();
    await expect(archive.get('/registry/a/1', early)).rejects.toMatchObject({ name: 'ArchiveBegins' });
    await expect(archive.get('/registry/a/1', fourth + 1)).rejects.toMatchObject({ name: 'StoreAhead' });
  });

  it('begins with an earlier revision, while the store has it', async () => {
    const clock = new ControlledClock();
    const store = new MemoryStore({ clock });
    const first = await put(store, 'a/1', '1', alice);
    const begin = { revision: first, time: clock.now() };
    await clock.advance(5);
    const second = await put(store, 'a/1', '2', alice);
    const changed = clock.now();
    await clock.advance(1_000);
    const { archive } = await start({ store, clock, begin });
    await archive.reached(second);
    expect(archive.bounds().oldest).toEqual(begin);
    expect((await changesOf(archive)).map(({ time }) => time)).toEqual([changed]);
    expect(await state(archive, first)).toEqual({ 'a/1': '1' });
    expect(brief(await changesOf(archive))).toEqual([['a/1', '2', 'alice']]);
    await store.compact(second);
    const { archive: late } = await start({ store, clock, begin });
    await late.reached(second);
    expect(late.bounds().oldest.revision).toBe(second);
  });

  it('tells who changed what and when, of one key and of all', async () => {
    const { archive, store, clock } = await start();
    const first = await put(store, 'a/1', '1', alice);
    await clock.advance(1000);
    const second = await put(store, 'a/1', '2', { user: 'bob' });
    await put(store, 'a/10', '1');
    await put(store, 'leases/x', 'beat');
    const last = await put(store, 'a/1', null, alice);
    await archive.reached(last);
    const all = await changesOf(archive);
    expect(brief(all)).toEqual([
      ['a/1', '1', 'alice'],
      ['a/1', '2', 'bob'],
      ['a/10', '1', undefined],
      ['a/1', null, 'alice'],
    ]);
    expect(all[0]).toMatchObject({ revision: first, replaced: 0, origin: alice });
    expect(all[1]).toMatchObject({ revision: second, replaced: first });
    expect(all[1]!.time - all[0]!.time).toBe(1000);
    expect(brief(await changesOf(archive, { newestFirst: true }))).toEqual(brief([...all].reverse()));
    const ofKey = await changesOf(archive, { key: '/registry/a/1' });
    expect(brief(ofKey)).toEqual(brief(all.filter(({ key }) => key === '/registry/a/1')));
    expect(await changesOf(archive, { key: '/registry/a/1', newestFirst: true })).toEqual([...ofKey].reverse());
    expect(brief(await changesOf(archive, { key: '/registry/a/1', after: first, until: second }))).toEqual([
      ['a/1', '2', 'bob'],
    ]);
    expect(brief(await changesOf(archive, { prefix: '/registry/a/10' }))).toEqual([['a/10', '1', undefined]]);
    expect(brief(await changesOf(archive, { after: second, newestFirst: true }))).toEqual([
      ['a/1', null, 'alice'],
      ['a/10', '1', undefined],
    ]);
  });

  it('finds the revision at a time', async () => {
    const { archive, store, clock } = await start();
    await archive.reached(await store.revision());
    const times: [number, number][] = [];
    for (let i = 0; i < 40; i++) {
      times.push([clock.now(), await put(store, `a/${i % 3}`, `${i}`)]);
      await clock.advance(700);
    }
    await archive.reached(times.at(-1)![1]);
    for (const [time, revision] of times) {
      expect(archive.revisionAt(time)).toBe(revision);
      expect(archive.revisionAt(time + 699)).toBe(revision);
    }
    expect(() => archive.revisionAt(times[0]![0] - 10_000)).toThrow(/history begins at/);
  });

  it('goes on where it was, and repeats nothing', async () => {
    const { archive, store, options } = await start();
    await archive.reached(await put(store, 'a/1', '1', alice));
    await put(store, 'a/1', '2', alice);
    await archive.close();
    await put(store, 'a/1', '3', alice);
    await put(store, 'a/2', 'x');
    const again = await open(options);
    const last = await put(store, 'a/1', '4');
    await again.reached(last);
    expect((await changesOf(again)).map(({ value }) => String(value))).toEqual(['1', '2', '3', 'x', '4']);
  });

  it('keeps one status change in a minute of each object, and every other change', async () => {
    const { archive, store, clock } = await start();
    await put(store, 'pods/a', 'spec0', alice);
    for (let i = 1; i <= 20; i++) {
      await put(store, 'pods/a', `status${i}`, status);
      await put(store, 'pods/b', `plain${i}`, alice);
      await clock.advance(10_000);
    }
    const spec = await put(store, 'pods/a', 'spec1', alice);
    const next = await put(store, 'pods/a', 'status21', status);
    await archive.reached(next);
    const kept = (await changesOf(archive, { key: '/registry/pods/a' })).map(({ value }) => String(value));
    expect(kept).toEqual(['spec0', 'status6', 'status12', 'status18', 'status20', 'spec1', 'status21']);
    expect(await changesOf(archive, { key: '/registry/pods/b' })).toHaveLength(20);
    expect(await state(archive, spec, '/registry/pods/a')).toEqual({ 'pods/a': 'spec1' });
    const changes = await changesOf(archive, { key: '/registry/pods/a' });
    for (const [i, { replaced }] of changes.entries()) expect(replaced).toBe(changes[i - 1]?.revision ?? 0);
  });

  it('deletes changes that are too old, and keeps what existed', async () => {
    const { archive, store, clock, options } = await start({ milliseconds: 3_600_000 });
    await put(store, 'a/1', '1', alice);
    await put(store, 'a/2', 'stays', alice);
    await put(store, 'a/gone', 'x', alice);
    const gone = await put(store, 'a/gone', null, alice);
    await archive.reached(gone);
    await clock.advance(2 * 3_600_000);
    const second = await put(store, 'a/1', '2', alice);
    await archive.reached(second);
    await archive.reached(await put(store, 'a/1', '3'));
    const { oldest } = archive.bounds();
    expect(oldest.revision).toBe(gone);
    expect(await state(archive, oldest.revision)).toEqual({ 'a/1': '1', 'a/2': 'stays' });
    expect(brief(await changesOf(archive))).toEqual([
      ['a/1', '2', 'alice'],
      ['a/1', '3', undefined],
    ]);
    expect(await changesOf(archive, { key: '/registry/a/gone' })).toEqual([]);
    await clock.advance(2 * 3_600_000);
    await archive.close();
    const later = await open(options);
    await expect.poll(() => later.bounds().oldest.revision).toBe(later.bounds().newest.revision);
    expect(await state(later, later.bounds().newest.revision)).toEqual({ 'a/1': '3', 'a/2': 'stays' });
  });

  it('deletes the oldest changes when it is too large, and says so once in a while', async () => {
    const lines: string[] = [];
    const log: Logger = { ...silent, warn: (message) => void lines.push(message) };
    const { archive, store, clock } = await start({ bytes: 400_000, log });
    let last = 0;
    for (let i = 0; i < 400; i++) {
      last = await put(store, `a/${i % 5}`, `${i} ${randomText(3000)}`, alice);
      if (i % 20 === 0) await archive.reached(last);
      await clock.advance(10_000);
    }
    await archive.reached(last);
    const { bytes, budget } = archive.sizes();
    expect(bytes).toBeLessThan(budget * 1.3);
    expect(archive.bounds().oldest.revision).toBeGreaterThan(100);
    expect(Object.keys(await state(archive, archive.bounds().oldest.revision))).toHaveLength(5);
    expect(lines.filter((line) => line.includes('--history-bytes')).length).toBeLessThanOrEqual(2);
    expect(lines.some((line) => line.includes('--history-bytes'))).toBe(true);
  });

  it('deletes the history of a prefix or before a revision, and keeps the present', async () => {
    const { archive, store } = await start();
    await put(store, 'secrets/a', '1', alice);
    await put(store, 'secrets/a', '2', alice);
    await put(store, 'secrets/b', '1', alice);
    await put(store, 'secrets/b', null, alice);
    const middle = await put(store, 'pods/a', '1', alice);
    const last = await put(store, 'pods/a', '2', alice);
    await archive.reached(last);
    expect(await archive.purge({ prefix: '/registry/secrets/' })).toEqual({ changes: 3, bytes: 2 });
    expect(await changesOf(archive, { prefix: '/registry/secrets/' })).toEqual([]);
    expect(await state(archive, last)).toEqual({ 'secrets/a': '2', 'pods/a': '2' });
    expect(await changesOf(archive)).toHaveLength(2);
    expect(await archive.purge({ before: last })).toEqual({ changes: 1, bytes: 1 });
    await expect(archive.get('/registry/pods/a', middle)).rejects.toMatchObject({ name: 'ArchiveBegins' });
    expect(await state(archive, last)).toEqual({ 'secrets/a': '2', 'pods/a': '2' });
    const next = await put(store, 'secrets/a', '3', alice);
    await archive.reached(next);
    expect(brief(await changesOf(archive))).toEqual([['secrets/a', '3', 'alice']]);
  });

  it('deletes the history of one key, and not of those that begin with it', async () => {
    const { archive, store } = await start();
    for (const key of ['secrets/a', 'secrets/ab', 'secrets/a-b']) {
      await put(store, key, '1', alice);
      await archive.reached(await put(store, key, '2', alice));
    }
    expect(await archive.purge({ key: '/registry/secrets/a' })).toEqual({ changes: 1, bytes: 1 });
    const keys = new Set(brief(await changesOf(archive)).map(([key]) => key));
    expect(keys).toEqual(new Set(['secrets/ab', 'secrets/a-b']));
  });

  it('rewrites values, also those that were not written yet', async () => {
    const { archive, store } = await start();
    const first = await put(store, 'secrets/a', 'old1', alice);
    await archive.reached(first);
    const second = await put(store, 'secrets/a', 'old2', alice);
    await put(store, 'pods/a', 'old', alice);
    const rewrite = ({ value }: { readonly value: Buffer }) => Buffer.from(String(value).replace('old', 'new'));
    expect(await archive.rewrite('/registry/secrets/', rewrite)).toBe(2);
    expect(await state(archive, first)).toEqual({ 'secrets/a': 'new1' });
    expect(await state(archive, second)).toEqual({ 'secrets/a': 'new2' });
    expect(brief(await changesOf(archive))).toEqual([
      ['secrets/a', 'new1', 'alice'],
      ['secrets/a', 'new2', 'alice'],
      ['pods/a', 'old', 'alice'],
    ]);
  });

  it('records the difference when the store has discarded what was not recorded', async () => {
    const lines: string[] = [];
    const log: Logger = { ...silent, warn: (message) => void lines.push(message) };
    const { archive, store, options } = await start({ log });
    await put(store, 'a/1', '1', alice);
    await put(store, 'a/2', '1', alice);
    const before = await put(store, 'a/same', '1', alice);
    await archive.reached(before);
    await archive.close();
    await put(store, 'a/1', '2', alice);
    await put(store, 'a/2', null, alice);
    const last = await put(store, 'a/3', '1', alice);
    await store.compact(last);
    const again = await open(options);
    await again.reached(last);
    expect(lines.some((line) => line.includes('history has a gap'))).toBe(true);
    expect(await state(again, before)).toEqual({ 'a/1': '1', 'a/2': '1', 'a/same': '1' });
    expect(await state(again, last)).toEqual({ 'a/1': '2', 'a/3': '1', 'a/same': '1' });
    expect(brief(await changesOf(again, { after: before })).sort()).toEqual([
      ['a/1', '2', undefined],
      ['a/2', null, undefined],
      ['a/3', '1', undefined],
    ]);
    const next = await put(store, 'a/1', '3', alice);
    await again.reached(next);
    expect(await state(again, next)).toEqual({ 'a/1': '3', 'a/3': '1', 'a/same': '1' });
  });

  it('records what a restored store has again', async () => {
    const clock = new ControlledClock();
    const store = new MemoryStore({ clock });
    await put(store, 'a/1', 'early', alice);
    const image = store.image();
    const { archive, options } = await start({ store, clock });
    const before = await put(store, 'a/1', 'late', alice);
    await archive.reached(before);
    await archive.close();
    const restored = new MemoryStore({ clock, image: { ...image, revision: image.revision + 1_000 } });
    const again = await open({ ...options, store: restored });
    await again.reached(restored.revision());
    expect(await state(again, before)).toEqual({ 'a/1': 'late' });
    expect(await state(again, restored.revision())).toEqual({ 'a/1': 'early' });
    const next = await put(restored, 'a/1', 'new');
    await again.reached(next);
    expect(await state(again, next - 1)).toEqual({ 'a/1': 'early' });
    expect(await state(again, next)).toEqual({ 'a/1': 'new' });
  });

  it.each(['truncated', 'overwritten', 'behind its archive'])('is kept aside when it is %s', async (how) => {
    const errors: string[] = [];
    const log: Logger = { ...silent, error: (message) => void errors.push(message) };
    const { archive, store, clock, options } = await start({ log });
    for (let i = 0; i < 50; i++) await put(store, `a/${i}`, randomText(2000), alice);
    await archive.reached(await store.revision());
    await archive.close();
    const file = join(options.directory, 'data.mdb');
    let present: Store = store;
    if (how === 'truncated') await truncate(file, 20_000);
    if (how === 'overwritten') await writeFile(file, Buffer.alloc(200_000, 'x'));
    if (how === 'behind its archive') present = new MemoryStore({ clock });
    const last = await put(present, 'b/1', 'here');
    const again = await open({ ...options, store: present });
    await again.reached(last);
    expect(errors).toHaveLength(1);
    expect((await readdir(dirname(options.directory))).some((name) => name.includes('.before-'))).toBe(true);
    expect(await state(again, last, '/registry/b/')).toEqual({ 'b/1': 'here' });
  });

  it('is checked after a crash, and not after it was closed', async () => {
    const { archive, options } = await start();
    await archive.close();
    expect(await readdir(options.directory)).toContain('clean');
    const again = await open(options);
    expect(await readdir(options.directory)).not.toContain('clean');
    await again.close();
    await appendFile(join(options.directory, 'data.mdb'), Buffer.alloc(4096));
    await open(options);
  });

  it('is closed also where its mark cannot be written', async () => {
    const { archive, store, options } = await start();
    await archive.reached(await put(store, 'a/1', '1'));
    await mkdir(join(options.directory, 'clean'));
    await archive.close();
    await rm(join(options.directory, 'clean'), { recursive: true });
    const again = await open(options);
    expect(await state(again, await store.revision())).toEqual({ 'a/1': '1' });
  });

  it('writes nothing while nothing changes', async () => {
    const { archive, store, clock } = await start();
    await archive.reached(await put(store, 'a/1', '1'));
    const { newest } = archive.bounds();
    await clock.advance(DAY_MS);
    expect(archive.bounds().newest).toEqual(newest);
    for (let i = 0; i < 5; i++) await put(store, 'leases/x', `${i}`);
    await archive.reached(await store.revision());
    expect(archive.bounds().newest.time).toBeGreaterThan(newest.time);
    expect(await state(archive, await store.revision())).toEqual({ 'a/1': '1' });
  });
});

function randomText(length: number): string {
  let text = '';
  for (let x = length; text.length < length; x = (x * 1_103_515_245 + 12_345) % 2 ** 31) text += x.toString(36);
  return text.slice(0, length);
}
