import { describe, expect, expectTypeOf, it } from 'vitest';
import { ScriptedApi, testKind } from '../../test/support/scripted-api.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { DeepReadonly, Draft } from '../api/object-types.ts';
import type { KubeObject } from '../kinds/kind.ts';
import { createClient } from './client.ts';
import type { Answer, Request, Transport } from './transport/transport.ts';

interface Set extends KubeObject {
  spec: { replicas: number; tags: string[]; extra: any };
  status?: { replicas?: number };
}
const ReplicaSet = {
  ...testKind<Set>('replicasets', 'ReplicaSet', 'Namespaced'),
  group: 'apps',
  hub: { apiVersion: 'apps/v1' },
};
const Node = testKind<KubeObject>('nodes', 'Node', 'Cluster');

/** Gives every request the same answer, and keeps the last request. */
function recording(answer: Answer) {
  const requests: Request[] = [];
  const transport: Transport = {
    call: async (request) => {
      requests.push(request);
      return answer;
    },
    watch: () => Promise.reject(new Error('no watch')),
  };
  const last = () => requests.at(-1);
  return { client: createClient(transport), last };
}

const object = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'a' } };
const success: Answer = {
  type: 'status',
  status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 200 },
};
const target = { apiVersion: 'apps/v1', plural: 'replicasets', namespace: 'x' };

describe('requests', () => {
  const { client, last } = recording({ type: 'object', object });
  const sets = client.of(ReplicaSet).in('x');
  const sent = { ...object, metadata: { name: 'a', namespace: 'x' } };

  it('gets by name', async () => {
    expect(await sets.get('a', { resourceVersion: '5' })).toBe(object);
    expect(last()).toEqual({ ...target, verb: 'get', name: 'a', options: { resourceVersion: '5' } });
  });

  it('creates in the namespace of the object, with kind and version filled in', async () => {
    await client
      .of(ReplicaSet)
      .create({ metadata: { name: 'a', namespace: 'x' } }, { dryRun: true, fieldManager: 'me' });
    const options = { dryRun: ['All'], fieldManager: 'me' };
    expect(last()).toEqual({ ...target, verb: 'create', body: sent, options });
  });

  it('updates the object that it is given, and its status', async () => {
    await client.of(ReplicaSet).update({ metadata: { name: 'a', namespace: 'x' } });
    expect(last()).toEqual({ ...target, verb: 'update', name: 'a', body: sent, options: {} });
    await client.of(ReplicaSet).updateStatus({ metadata: { name: 'a', namespace: 'x' } });
    expect(last()).toEqual({ ...target, verb: 'update', name: 'a', subresource: 'status', body: sent, options: {} });
  });

  it('patches with all three patch types', async () => {
    const operations = [{ op: 'remove', path: '/spec' }] as const;
    await sets.patch('a', { type: 'json', operations });
    expect(last()).toEqual({ ...target, verb: 'patch', name: 'a', patchType: 'json', body: operations, options: {} });
    const changes = { spec: { replicas: 3 } };
    await sets.patch('a', { type: 'merge', changes });
    expect(last()).toMatchObject({ patchType: 'merge', body: changes });
    await sets.patchStatus('a', { type: 'strategic', changes: { status: { replicas: 1 } } });
    expect(last()).toMatchObject({ patchType: 'strategic', subresource: 'status' });
  });

  it('speaks any served version', async () => {
    await client.of(ReplicaSet, 'extensions/v1beta1').create({ metadata: { name: 'a', namespace: 'x' } });
    expect(last()).toMatchObject({ apiVersion: 'extensions/v1beta1', body: { apiVersion: 'extensions/v1beta1' } });
  });

  it('ignores the namespace of a cluster-scoped kind', async () => {
    await client.of(Node).in('x').get('n');
    expect(last()).toEqual({ verb: 'get', apiVersion: 'v1', plural: 'nodes', name: 'n', options: {} });
  });

  it('reaches any subresource', async () => {
    const body = { kind: 'Eviction' };
    await sets.subresource('a', 'eviction').create(body);
    expect(last()).toEqual({ ...target, verb: 'create', name: 'a', subresource: 'eviction', body, options: {} });
  });

  it('rejects a request without the namespace or the name of the object', () => {
    expect(() => client.of(ReplicaSet).get('a')).toThrow('call in(namespace) first');
    expect(() => sets.get('')).toThrow('must not be empty');
    expect(() => sets.update({ spec: {} })).toThrow('must not be empty');
  });

  it('passes the signal to the transport', async () => {
    const { signal } = new AbortController();
    await sets.get('a', { signal });
    expect(last()).toMatchObject({ signal, options: {} });
  });
});

describe('deletes', () => {
  it('sends all options of a deletion in the body, and those that the query supports there, too', async () => {
    const { client, last } = recording(success);
    await client
      .of(ReplicaSet)
      .in('x')
      .delete('a', { gracePeriodSeconds: 0, propagationPolicy: 'Foreground', preconditions: { uid: 'u' } });
    expect(last()).toEqual({
      ...target,
      verb: 'delete',
      name: 'a',
      body: {
        ...{ kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'u' } },
        ...{ gracePeriodSeconds: 0, propagationPolicy: 'Foreground' },
      },
      options: { gracePeriodSeconds: 0, propagationPolicy: 'Foreground' },
    });
  });

  it('deletes a collection by selectors', async () => {
    const { client, last } = recording(success);
    await client.of(ReplicaSet).in('x').deleteCollection({ labelSelector: 'a=b', gracePeriodSeconds: 1 });
    expect(last()).toEqual({
      ...target,
      verb: 'deletecollection',
      options: { labelSelector: 'a=b', gracePeriodSeconds: 1 },
    });
  });

  it('accepts an object as the response', async () => {
    const { client, last } = recording({ type: 'object', object });
    await client.of(ReplicaSet).in('x').delete('a');
    expect(last()?.verb).toBe('delete');
  });
});

const scale = (status: object) => ({ ...object, kind: 'Scale', spec: { replicas: 3 }, status });

it('scale reads the number and the selector, in the newer and the older shape', async () => {
  const newer = recording({ type: 'object', object: scale({ replicas: 2, selector: 'a=b,c=d' }) });
  const expected = { replicas: 3, observed: 2, selector: 'a=b,c=d' };
  expect(await newer.client.of(ReplicaSet).in('x').scale('a')).toEqual(expected);
  const older = recording({ type: 'object', object: scale({ replicas: 2, selector: { a: 'b', c: 'd' } }) });
  expect(await older.client.of(ReplicaSet).in('x').scale('a')).toEqual(expected);
});

it('scale sets the number', async () => {
  const { client, last } = recording({ type: 'object', object: scale({}) });
  await client.of(ReplicaSet).in('x').setScale('a', 5);
  const body = { spec: { replicas: 5 } };
  expect(last()).toMatchObject({ verb: 'patch', subresource: 'scale', patchType: 'merge', body });
});

describe('lists', () => {
  const Pod = testKind('pods', 'Pod', 'Namespaced');
  const filled = (count: number) => {
    const api = new ScriptedApi();
    for (let i = 0; i < count; i++) api.put('pods', { metadata: { name: `p${i}`, namespace: 'x' } });
    return api;
  };

  it('returns one page with the token for the next', async () => {
    const page = await createClient(filled(5)).of(Pod).list({ limit: 2 });
    expect(page.items.map(({ metadata }) => metadata.name)).toEqual(['p0', 'p1']);
    expect(page.metadata.continue).toBeDefined();
  });

  it('joins all pages', async () => {
    const api = filled(5);
    const all = await createClient(api).of(Pod).listAll({ limit: 2, labelSelector: 'a=b', resourceVersion: '0' });
    expect(all.items).toHaveLength(5);
    expect(all.metadata).toEqual({ resourceVersion: String(api.revision) });
    expect(api.requests.map(({ options }) => options)).toEqual([
      { limit: 2, labelSelector: 'a=b', resourceVersion: '0' },
      { limit: 2, labelSelector: 'a=b', continue: '2' },
      { limit: 2, labelSelector: 'a=b', continue: '4' },
    ]);
  });

  it('lists in one request when the continue token expires', async () => {
    const api = filled(5);
    api.reject(({ options }) => (options?.continue ? new ApiError('Expired', 'too late') : undefined));
    const all = await createClient(api).of(Pod).listAll({ limit: 2 });
    expect(all.items).toHaveLength(5);
    expect(api.requests.at(-1)?.options).toEqual({});
  });

  it('passes other errors on', async () => {
    const api = filled(5);
    api.reject(({ options }) => (options?.continue ? new ApiError('Forbidden', 'no') : undefined));
    await expect(createClient(api).of(Pod).listAll({ limit: 2 })).rejects.toThrow('no');
  });
});

describe('watches', () => {
  const Pod = testKind('pods', 'Pod', 'Namespaced');

  it('yields events until the loop ends', async () => {
    const api = new ScriptedApi();
    const watch = await createClient(api).of(Pod).watch({ resourceVersion: '1' });
    api.put('pods', { metadata: { name: 'a', namespace: 'x' } });
    api.put('pods', { metadata: { name: 'b', namespace: 'x' } });
    const seen: string[] = [];
    for await (const event of watch) {
      seen.push(`${event.type} ${event.object.metadata.name}`);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(['ADDED a', 'ADDED b']);
    expect(api.watching).toBe(0);
  });

  it('throws an error event of the server, after the events before it', async () => {
    const api = new ScriptedApi();
    const watch = await createClient(api).of(Pod).watch({ resourceVersion: '1' });
    api.put('pods', { metadata: { name: 'a', namespace: 'x' } });
    api.failWatches(new ApiError('Expired', 'too old resource version: 1 (5)'));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of watch) seen.push(event.type);
    })();
    const error = await reading.catch((each) => each);
    expect(isApiError(error, 'Expired')).toBe(true);
    expect(error.message).toBe('too old resource version: 1 (5)');
    expect(seen).toEqual(['ADDED']);
  });

  it('ends without an error when its signal is aborted, or when it is closed unread', async () => {
    const api = new ScriptedApi();
    const stop = new AbortController();
    const watch = await createClient(api).of(Pod).watch({ resourceVersion: '1', signal: stop.signal });
    const reading = (async () => {
      for await (const _ of watch);
    })();
    stop.abort();
    await reading;
    (await createClient(api).of(Pod).watch({ resourceVersion: '1' })).close();
    expect(api.watching).toBe(0);
  });
});

it('types are readonly in results and partial in requests', () => {
  type Out = DeepReadonly<Set>;
  expectTypeOf<Out['spec']['tags']>().toEqualTypeOf<readonly string[]>();
  expectTypeOf<Out['spec']['extra']>().toBeAny();
  expectTypeOf<Out>().toExtend<Draft<Set>>();
  expectTypeOf<{ spec: { replicas: number } }>().toExtend<Draft<Set>>();
  expectTypeOf<{ spec: { replicas: string } }>().not.toExtend<Draft<Set>>();
  // @ts-expect-error a result must not be changed
  const change = (out: Out) => out.spec.tags.push('x');
  expect(change).toBeTypeOf('function');
});
