import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type TestServer, testServer } from '../../test/support/server.ts';
import { ConfigMap } from '../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../kinds/groups/core/namespace.ts';
import { Service } from '../kinds/groups/core/service/service.ts';

const kinds = [ConfigMap, Namespace, Secret, Service];

let api: TestServer;
beforeEach(async () => {
  api = await testServer(kinds);
});

const map = (name: string, data: Record<string, string> = {}, labels?: Record<string, string>) => ({
  metadata: { name, ...(labels ? { labels } : {}) },
  data,
});

describe('create', () => {
  it('sets identity and creation time, and returns kind, version and selfLink', async () => {
    const made = await api.create('configmaps', map('a', { x: '1' }));
    expect(made).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'a',
        namespace: 'default',
        selfLink: '/api/v1/namespaces/default/configmaps/a',
        creationTimestamp: '2030-01-01T00:00:00Z',
      },
      data: { x: '1' },
    });
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(await api.get('configmaps', 'a')).toEqual(made);
  });

  it('generates a name from generateName', async () => {
    const made = await api.create('configmaps', { metadata: { generateName: 'gen-' } });
    expect(made.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
  });

  it('rejects a second object of the same name', async () => {
    await api.create('configmaps', map('a'));
    await expect(api.create('configmaps', map('a'))).rejects.toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
    });
  });

  it('lets only one of two concurrent creates win', async () => {
    const made = await Promise.allSettled([api.create('configmaps', map('a')), api.create('configmaps', map('a'))]);
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('requires a name, an existing namespace, and no resourceVersion', async () => {
    await expect(api.create('configmaps', {})).rejects.toMatchObject({
      code: 422,
      message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    });
    await expect(api.create('configmaps', map('a'), { namespace: 'nope' })).rejects.toMatchObject({
      code: 404,
      message: 'namespaces "nope" not found',
    });
    await expect(api.create('configmaps', { metadata: { name: 'a', resourceVersion: '5' } })).rejects.toMatchObject({
      code: 400,
    });
    await expect(api.create('configmaps', { metadata: { name: 'a', namespace: 'kube-system' } })).rejects.toMatchObject(
      {
        code: 400,
        message: 'the namespace of the provided object does not match the namespace sent on the request',
      },
    );
  });

  it('reports wrong kinds, versions and bodies', async () => {
    await expect(api.create('configmaps', { kind: 'Secret', apiVersion: 'v1' })).rejects.toMatchObject({
      code: 400,
      message: expect.stringContaining('Secret in version "v1" cannot be handled as a ConfigMap'),
    });
    await expect(api.create('configmaps', { kind: 'ConfigMap', apiVersion: 'nope/v9' })).rejects.toMatchObject({
      message:
        'ConfigMap in version "v9" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "nope/v9"',
    });
    await expect(api.create('configmaps', undefined)).rejects.toMatchObject({ code: 400 });
    await expect(api.create('configmaps', [1])).rejects.toMatchObject({ code: 400 });
  });

  it('treats a kind and an apiVersion of null as missing', async () => {
    const body = { kind: null, apiVersion: null, metadata: { name: 'a' } };
    expect(await api.create('configmaps', body)).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    for (const wrong of [{ kind: 0 }, { apiVersion: false }]) {
      await expect(api.create('configmaps', { ...body, ...wrong })).rejects.toMatchObject({ code: 400 });
    }
  });

  it('stores nothing in a dry run', async () => {
    const made = await api.create('configmaps', map('a'), { options: { dryRun: ['All'] } });
    expect(made.metadata.uid).toBeDefined();
    await expect(api.get('configmaps', 'a')).rejects.toMatchObject({ code: 404 });
  });
});

describe('replace', () => {
  it('returns the current resourceVersion in a dry run, so that nothing else differs', async () => {
    const first = await api.create('configmaps', map('a', { x: '1' }));
    const options = { dryRun: ['All'] };
    const tried = await api.update('configmaps', { ...first, data: { x: '2' } }, { options });
    expect(tried).toEqual({ ...first, data: { x: '2' } });
    expect(await api.get('configmaps', 'a')).toEqual(first);
  });

  it('conflicts with a stale resourceVersion, and not with the newest', async () => {
    const first = await api.create('configmaps', map('a', { x: '1' }));
    const second = await api.update('configmaps', { ...first, data: { x: '2' } });
    expect(second.data).toEqual({ x: '2' });
    await expect(api.update('configmaps', { ...first, data: { x: '3' } })).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
  });

  it('replaces any version without a resourceVersion', async () => {
    await api.create('configmaps', map('a', { x: '1' }));
    expect((await api.update('configmaps', map('a', { y: '2' }))).data).toEqual({ y: '2' });
  });

  it('writes nothing when nothing changes', async () => {
    const first = await api.create('configmaps', map('a', { x: '1' }));
    const second = await api.update('configmaps', first);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it('keeps metadata that only the server writes', async () => {
    const first = await api.create('configmaps', map('a'));
    const { metadata } = await api.update('configmaps', {
      metadata: { name: 'a', creationTimestamp: '2001-01-01T00:00:00Z', labels: { l: '1' } },
    });
    expect(metadata).toMatchObject({
      uid: first.metadata.uid,
      creationTimestamp: first.metadata.creationTimestamp,
      labels: { l: '1' },
    });
  });

  it('requires the name in the path', async () => {
    await api.create('configmaps', map('a'));
    await expect(api.update('configmaps', map('other'), { name: 'a' })).rejects.toMatchObject({
      message: 'the name of the object (other) does not match the name on the URL (a)',
    });
    await expect(api.update('configmaps', {}, { name: 'a' })).rejects.toMatchObject({
      message: 'the name of the object (a based on URL) was undeterminable: name must be provided',
    });
    await expect(api.update('configmaps', map('none'))).rejects.toMatchObject({ code: 404 });
  });
});

describe('patch', () => {
  it('merges, and the last write wins', async () => {
    await api.create('configmaps', map('a', { x: '1' }));
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) => api.patch('configmaps', 'a', { data: { [`k${i}`]: 'v' } })),
    );
    expect(all).toHaveLength(20);
    expect(Object.keys((await api.get('configmaps', 'a')).data)).toHaveLength(21);
  });

  it('conflicts with a stale resourceVersion', async () => {
    const first = await api.create('configmaps', map('a', { x: '1' }));
    await api.patch('configmaps', 'a', { data: { x: '2' } });
    const { resourceVersion } = first.metadata;
    await expect(
      api.patch('configmaps', 'a', { metadata: { resourceVersion }, data: { x: '3' } }),
    ).rejects.toMatchObject({
      code: 409,
    });
  });

  it('cannot rename an object', async () => {
    await api.create('configmaps', map('a'));
    await expect(api.patch('configmaps', 'a', { metadata: { name: 'b' } })).rejects.toMatchObject({
      code: 400,
      message: 'the name of the object (b) does not match the name on the URL (a)',
    });
  });

  it('removes labels with null and applies JSON patches', async () => {
    await api.create('configmaps', map('a', {}, { l: '1', m: '2' }));
    expect((await api.patch('configmaps', 'a', { metadata: { labels: { l: null } } })).metadata.labels).toEqual({
      m: '2',
    });
    const patched = await api.patch('configmaps', 'a', [{ op: 'add', path: '/data', value: { z: '1' } }], {
      patchType: 'json',
    });
    expect(patched.data).toEqual({ z: '1' });
  });
});

describe('delete', () => {
  it('returns a Status and removes the object', async () => {
    const made = await api.create('configmaps', map('a'));
    expect(await api.delete('configmaps', 'a')).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: made.metadata.uid },
      code: 200,
    });
    await expect(api.get('configmaps', 'a')).rejects.toMatchObject({ code: 404 });
  });

  it('waits for finalizers', async () => {
    await api.create('configmaps', { metadata: { name: 'a', finalizers: ['example.com/hold'] } });
    await api.delete('configmaps', 'a');
    expect((await api.get('configmaps', 'a')).metadata.deletionTimestamp).toBe('2030-01-01T00:00:00Z');
    await api.patch('configmaps', 'a', { metadata: { finalizers: null } });
    await expect(api.get('configmaps', 'a')).rejects.toMatchObject({ code: 404 });
  });

  it('checks preconditions', async () => {
    await api.create('configmaps', map('a'));
    await expect(api.delete('configmaps', 'a', { body: { preconditions: { uid: 'not-it' } } })).rejects.toMatchObject({
      code: 409,
    });
  });

  it('rejects both forms of the propagation policy together', async () => {
    await api.create('configmaps', map('a'));
    const options = { orphanDependents: true, propagationPolicy: 'Orphan' };
    await expect(api.delete('configmaps', 'a', { options })).rejects.toMatchObject({ code: 422 });
    await expect(api.delete('configmaps', 'a', { body: options })).rejects.toMatchObject({ code: 422 });
  });

  it('deletes the matching objects of a collection', async () => {
    await api.create('configmaps', map('a', {}, { app: 'x' }));
    await api.create('configmaps', map('b', {}, { app: 'y' }));
    expect(await api.deleteCollection('configmaps', { options: { labelSelector: 'app=x' } })).toMatchObject({
      status: 'Success',
      code: 200,
    });
    expect((await api.list('configmaps')).items.map(({ object }) => object.metadata.name)).toEqual(['b']);
  });
});

describe('list', () => {
  beforeEach(async () => {
    for (const name of ['c', 'a', 'b']) await api.create('configmaps', map(name, {}, { app: name }));
  });

  it('is sorted by name, with the bytes of its items', async () => {
    const { json, metadata } = await api.list('configmaps');
    const tree = JSON.parse(json().toString());
    expect(tree).toMatchObject({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { selfLink: '/api/v1/namespaces/default/configmaps', resourceVersion: metadata.resourceVersion },
    });
    expect(tree.items.map((item: any) => item.metadata.name)).toEqual(['a', 'b', 'c']);
    expect(tree.items[0]).not.toHaveProperty('kind');
    expect(tree.items[0].metadata.selfLink).toBe('/api/v1/namespaces/default/configmaps/a');
  });

  it('continues from page to page at one revision', async () => {
    const first = await api.list('configmaps', { options: { limit: 2 } });
    expect(first.metadata.remainingItemCount).toBe(1);
    await api.delete('configmaps', 'c');
    await api.create('configmaps', map('d'));
    const token = first.metadata.continue ?? '';
    const second = await api.list('configmaps', { options: { limit: 2, continue: token } });
    expect(second.items.map(({ object }) => object.metadata.name)).toEqual(['c']);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(second.metadata.continue).toBeUndefined();
  });

  it('is complete with a limit of zero or less', async () => {
    for (const limit of [0, -1]) {
      const { items, metadata } = await api.list('configmaps', { options: { limit } });
      expect(items).toHaveLength(3);
      expect(metadata.remainingItemCount).toBeUndefined();
    }
  });

  it('shows an exact past revision, or that it is gone', async () => {
    const { resourceVersion } = (await api.list('configmaps')).metadata;
    await api.delete('configmaps', 'a');
    const options = { resourceVersion, resourceVersionMatch: 'Exact' };
    const past = await api.list('configmaps', { options });
    expect(past.items.map(({ object }) => object.metadata.name)).toEqual(['a', 'b', 'c']);
    const token = (await api.list('configmaps', { options: { limit: 1 } })).metadata.continue ?? '';
    await api.create('configmaps', map('d'));
    await api.clock.advance(301_000);
    await api.store.compact(await api.store.revision());
    await api.create('configmaps', map('e'));
    await expect(api.list('configmaps', { options })).rejects.toMatchObject({ code: 410, reason: 'Expired' });
    const failed = await api.list('configmaps', { options: { continue: token } }).catch((error) => error.toStatus());
    expect(failed).toMatchObject({ code: 410, reason: 'Expired', metadata: { continue: expect.any(String) } });
    const rest = await api.list('configmaps', { options: { continue: failed.metadata.continue } });
    expect(rest.items.map(({ object }) => object.metadata.name)).toEqual(['c', 'd', 'e']);
  });

  it('selects by labels and fields', async () => {
    const names = async (options: object) =>
      (await api.list('configmaps', { options })).items.map(({ object }) => object.metadata.name);
    expect(await names({ labelSelector: 'app in (a,b),app notin (b)' })).toEqual(['a']);
    expect(await names({ fieldSelector: 'metadata.name!=a' })).toEqual(['b', 'c']);
    await expect(names({ fieldSelector: 'spec.nope=a' })).rejects.toMatchObject({ code: 400 });
    await expect(names({ labelSelector: 'app===x!' })).rejects.toMatchObject({ code: 400 });
  });

  it('leaves out objects with pending initializers', async () => {
    await api.create('configmaps', { metadata: { name: 'i', initializers: { pending: [{ name: 'x' }] } } });
    expect((await api.list('configmaps')).items).toHaveLength(3);
    expect((await api.list('configmaps', { options: { includeUninitialized: true } })).items).toHaveLength(4);
  });

  it('decodes no object for a list without selectors', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    try {
      const all = (await api.list('configmaps')).json();
      const page = (await api.list('configmaps', { options: { limit: 2 } })).json();
      expect(parse).not.toHaveBeenCalled();
      expect([all, page].map((json) => JSON.parse(json.toString()).items.length)).toEqual([3, 2]);
    } finally {
      parse.mockRestore();
    }
  });

  it('waits for a future resourceVersion, up to a timeout', async () => {
    const asked = api.list('configmaps', { options: { resourceVersion: '999999' } });
    const seen = expect(asked).rejects.toMatchObject({
      code: 504,
      message: expect.stringContaining('Too large resource version'),
    });
    await api.clock.advance(3000);
    await seen;
    await expect(api.list('configmaps', { options: { resourceVersion: 'bogus' } })).rejects.toMatchObject({
      code: 400,
    });
  });
});

describe('watch', () => {
  it('starts with the current objects when no resourceVersion is given', async () => {
    await api.create('configmaps', map('a'));
    const watched = await api.watch('configmaps');
    await watched.next();
    await api.create('configmaps', map('b'));
    await api.patch('configmaps', 'a', { data: { x: '1' } });
    await api.delete('configmaps', 'a');
    await watched.next(3);
    expect(watched.told()).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED a']);
  });

  it('resumes from a resourceVersion without skipping or repeating', async () => {
    const { metadata } = await api.create('configmaps', map('a'));
    await api.create('configmaps', map('b'));
    const watched = await api.watch('configmaps', { options: { resourceVersion: metadata.resourceVersion } });
    await api.create('configmaps', map('c'));
    await watched.next(2);
    expect(watched.told()).toEqual(['ADDED b', 'ADDED c']);
  });

  it('reports objects that enter and leave the selection', async () => {
    const watched = await api.watch('configmaps', { options: { labelSelector: 'app=x', resourceVersion: '1' } });
    await api.create('configmaps', map('a', {}, { app: 'y' }));
    await api.patch('configmaps', 'a', { metadata: { labels: { app: 'x' } } });
    await api.patch('configmaps', 'a', { data: { k: 'v' } });
    const { metadata } = await api.patch('configmaps', 'a', { metadata: { labels: { app: 'z' } } });
    const events = await watched.next(3);
    expect(watched.told()).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
    expect(events[2]?.object.metadata).toMatchObject({ resourceVersion: metadata.resourceVersion });
  });

  it('shows only the named object', async () => {
    const watched = await api.watch('configmaps', { name: 'a' });
    await api.create('configmaps', map('b'));
    await api.create('configmaps', map('a'));
    await watched.next();
    expect(watched.told()).toEqual(['ADDED a']);
  });

  it('ends after timeoutSeconds, with a bookmark if requested', async () => {
    const watched = await api.watch('configmaps', { options: { timeoutSeconds: 5, allowWatchBookmarks: true } });
    await api.create('secrets', { metadata: { name: 's' } });
    await api.clock.advance(5000);
    expect(watched.told()).toEqual(['BOOKMARK']);
    expect(watched.ended).toBe(true);
  });

  it('marks the end of the initial events', async () => {
    await api.create('configmaps', map('a'));
    const options = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true };
    const watched = await api.watch('configmaps', { options });
    const events = await watched.next(2);
    expect(watched.told()).toEqual(['ADDED a', 'BOOKMARK']);
    expect(events[1]?.object.metadata).toMatchObject({ annotations: { 'k8s.io/initial-events-end': 'true' } });
  });

  it('reports expired history in the form that clients handle', async () => {
    for (const name of ['a', 'b', 'c']) await api.create('configmaps', map(name));
    await api.clock.advance(301_000);
    await api.store.compact(await api.store.revision());
    await api.create('configmaps', map('d'));
    const watched = await api.watch('configmaps', { options: { resourceVersion: '1' } });
    const [event] = await watched.next();
    expect(event).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(watched.ended).toBe(true);
  });

  it('resumes after a restart of the server', async () => {
    const { metadata } = await api.create('configmaps', map('a'));
    await api.create('configmaps', map('b'));
    await api.patch('configmaps', 'a', { data: { x: '1' } });
    api.server.close();
    const again = await testServer(kinds, { store: api.store, clock: api.clock });
    const watched = await again.watch('configmaps', { options: { resourceVersion: metadata.resourceVersion } });
    await again.create('configmaps', map('c'));
    await watched.next(3);
    expect(watched.told()).toEqual(['ADDED b', 'MODIFIED a', 'ADDED c']);
  });

  it('ends when the server stops', async () => {
    const watched = await api.watch('configmaps');
    api.server.close();
    expect(watched.ended).toBe(true);
  });
});

describe('services', () => {
  const service = (name: string, spec: object = {}) => ({
    metadata: { name },
    spec: { ports: [{ port: 80 }], selector: { app: name }, ...spec },
  });

  it('get addresses and node ports, each once', async () => {
    const made = await Promise.all(
      Array.from({ length: 50 }, (_, i) => api.create('services', service(`s${i}`, { type: 'NodePort' }))),
    );
    const ips = made.map(({ spec }) => spec.clusterIP);
    const ports = made.map(({ spec }) => spec.ports[0].nodePort);
    expect(new Set(ips).size).toBe(50);
    expect(new Set(ports).size).toBe(50);
    for (const port of ports) expect(port).toBeGreaterThanOrEqual(30000);
  });

  it('keep theirs, and release them when they are deleted', async () => {
    const made = await api.create('services', service('a', { clusterIP: '10.96.7.7' }));
    expect(made.spec.clusterIP).toBe('10.96.7.7');
    await expect(api.create('services', service('b', { clusterIP: '10.96.7.7' }))).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining('provided IP is already allocated'),
    });
    expect((await api.update('services', service('a'))).spec.clusterIP).toBe('10.96.7.7');
    await api.delete('services', 'a');
    expect((await api.create('services', service('b', { clusterIP: '10.96.7.7' }))).spec.clusterIP).toBe('10.96.7.7');
  });

  it('cannot request addresses and ports outside the ranges', async () => {
    const asked = service('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 5 }] });
    await expect(api.create('services', asked)).rejects.toMatchObject({
      message:
        'Service "a" is invalid: spec.ports[0].nodePort: Invalid value: 5: provided port is not in the valid range. The range of valid ports is 30000-32767',
    });
  });
});

it('namespaces reject creates while they are being deleted, and are removed when they are finalized', async () => {
  const cluster = { namespace: undefined } as never;
  const made = await api.create('namespaces', { metadata: { name: 'n' } }, cluster);
  expect(made).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
  await api.delete('namespaces', 'n', cluster);
  const dying = await api.get('namespaces', 'n', cluster);
  expect(dying).toMatchObject({
    status: { phase: 'Terminating' },
    metadata: { deletionTimestamp: expect.any(String) },
  });
  await expect(api.create('configmaps', map('a'), { namespace: 'n' })).rejects.toMatchObject({
    code: 403,
    message: 'configmaps "a" is forbidden: unable to create new content in namespace n because it is being terminated',
  });
  await api.update('namespaces', { ...dying, spec: {} }, { ...(cluster as object), subresource: 'finalize' });
  await expect(api.get('namespaces', 'n', cluster)).rejects.toMatchObject({ code: 404 });
});

it('the registry serves a kind that is added at run time, and stops serving a removed one', async () => {
  api.server.registry.remove(Secret);
  await expect(api.create('secrets', { metadata: { name: 's' } })).rejects.toMatchObject({ code: 404 });
  api.server.registry.add(Secret);
  expect(await api.create('secrets', { metadata: { name: 's' } })).toMatchObject({ kind: 'Secret', type: 'Opaque' });
});

it('export strips fields that clients cannot set', async () => {
  await api.create('configmaps', map('a', { x: '1' }));
  const { metadata } = await api.get('configmaps', 'a', { options: { export: true } });
  expect(metadata).toEqual({ name: 'a' });
  const exact = await api.get('configmaps', 'a', { options: { export: true, exact: true } });
  expect(exact.metadata).toEqual({ name: 'a', namespace: 'default' });
});
